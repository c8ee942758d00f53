"""A small CGOS server of our own for tests: one player against moves it makes itself, on a real socket.

It keeps time as the real one does (from the sending of genmove to the answer), forbids what that forbids, ends games by
two passes, and does what tests ask: drop the connection after some moves, refuse the password, say nonsense.
"""

import contextlib
import socket
import threading
import time

from engine.board.position import Position
from engine.board.vertex import format_vertex, parse_vertex
from engine.errors import EngineError

RULES = '{"ko":"POSITIONAL","scoring":"AREA","suicide":false,"friendlyPassOk":false}'


class CgosServer(threading.Thread):
    def __init__(self, *, size=5, milliseconds=60_000, games=1, player_is="w", drop_after=(), password="secret",
                 noise=(), plies=12):  # fmt: skip
        super().__init__(daemon=True)
        self.size, self.milliseconds, self.games, self.player_is = size, milliseconds, games, player_is
        self.drop_after, self.password, self.noise, self.plies = list(drop_after), password, list(noise), plies
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.said, self.results, self.positions, self.figures = [], [], [], []
        self.connections = 0
        self.fault = None
        self._fresh()

    def _fresh(self):
        self.position = Position(self.size, rules=RULES, komi=7.5)
        self.moves = []
        self.left = {1: self.milliseconds, 2: self.milliseconds}

    def run(self):
        try:
            while len(self.results) < self.games or self.said[-1:] != ["quit"]:
                self.listener.settimeout(20)
                connection, _ = self.listener.accept()
                self.connections += 1
                with connection:
                    connection.settimeout(20)
                    self.file = connection.makefile("rw", encoding="utf-8", newline="\n")
                    try:
                        with contextlib.suppress(ConnectionError):
                            self.serve()
                    finally:
                        connection.shutdown(socket.SHUT_RDWR)
                        self.file.close()
        except Exception as error:
            self.fault = error
        finally:
            self.listener.close()

    def say(self, text):
        self.file.write(text + "\n")
        self.file.flush()

    def hear(self):
        line = self.file.readline()
        if not line:
            raise ConnectionError("gone")
        self.said.append(line.strip())
        return line.strip()

    def serve(self):
        self.say("protocol genmove_analyze")
        assert self.hear().startswith("e1 ")
        self.say("username")
        self.name = self.hear()
        self.say("password")
        if self.hear() != self.password:
            self.say("Sorry, password doesn't match")
            return
        while len(self.results) < self.games:
            for text in self.noise:
                self.say(text)
            history = " ".join(f"{vertex} {left}" for vertex, left in self.moves)
            names = (self.name, "other") if self.player_is == "w" else ("other", self.name)
            head = f"setup 7{len(self.results)} {self.size} 7.5 {self.milliseconds}"
            self.say(f"{head} {names[0]}(1800) {names[1]}(1700?) {history}".strip())
            self.game()
            if self.hear() == "quit":
                return
        assert self.hear() == "quit"

    def game(self):
        while True:
            color = self.position.to_play
            letter = "bw"[color - 1]
            if letter == self.player_is:
                if self.drop_after and len(self.moves) >= self.drop_after[0]:
                    self.drop_after.pop(0)
                    raise ConnectionError("dropped on purpose")
                started = time.monotonic()
                self.say(f"genmove {letter} {self.left[color]}")
                move, _, figures = self.hear().partition(" ")
                self.left[color] -= int(1000 * (time.monotonic() - started))
                self.figures.append(figures)
                if self.left[color] < 0:
                    return self.over(f"{'WB'[color - 1]}+Time")
                if move.lower() == "resign":
                    return self.over(f"{'WB'[color - 1]}+Resign")
                try:
                    self.position.play(parse_vertex(move, self.size, self.size), color)
                except EngineError:
                    return self.over(f"{'WB'[color - 1]}+Illegal")
            else:
                move = self.own_move(color)
                self.position.play(parse_vertex(move, self.size, self.size), color)
                self.say(f"play {letter} {move} {self.left[color]}")
            self.moves.append((move, self.left[color]))
            if self.position.ended or len(self.moves) > 200:
                return self.over("W+3.5")

    def own_move(self, color):
        if len(self.moves) < self.plies:
            for action in range(self.position.area):
                if self.position.is_legal(action, color):
                    return format_vertex(action, self.size, self.size)
        return "pass"

    def over(self, result):
        self.results.append(result)
        self.positions.append(self.position)
        self._fresh()
        self.say(f"gameover 2026-01-01 {result} ")
