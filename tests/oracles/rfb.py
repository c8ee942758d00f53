"""Just enough of VNC's protocol (RFB 3.3 to 3.8) to press keys and the mouse in a Qt program and to see its screen."""

import socket
import struct
import time

CONTROL, RETURN = 0xFFE3, 0xFF0D


class Screen:
    """A connection to a Qt program that was started with QT_QPA_PLATFORM=vnc:port=PORT."""

    def __init__(self, port, patience):
        self._socket = connect(port, patience)
        version = self._read(12)
        self._socket.sendall(version)
        if version >= b"RFB 003.007":
            self._read(self._read(1)[0])
            self._socket.sendall(b"\x01")  # no password
            if version >= b"RFB 003.008":
                assert self._read(4) == bytes(4)
        else:
            self._read(4)
        self._socket.sendall(b"\x01")  # others may watch
        self.width, self.height = struct.unpack(">HH", self._read(4))
        self._read(16)
        self._read(struct.unpack(">I", self._read(4))[0])
        self._socket.sendall(struct.pack(">BxxxBBBBHHHBBBxxx", 0, 32, 24, 0, 1, 255, 255, 255, 16, 8, 0))
        self._socket.sendall(struct.pack(">BxHi", 2, 1, 0))  # plain pixels

    def key(self, symbol, *, control=False):
        """Press and release a key."""
        for code, down in ((CONTROL, 1), (symbol, 1), (symbol, 0), (CONTROL, 0)):
            if code != CONTROL or control:
                self._socket.sendall(struct.pack(">BBxxI", 4, down, code))
                time.sleep(0.03)

    def click(self, x, y):
        """Click the left button."""
        for mask in (0, 1, 0):
            self._socket.sendall(struct.pack(">BBHH", 5, mask, round(x), round(y)))
            time.sleep(0.08)

    def pixels(self):
        """Return the screen as rows of (blue, green, red, 0) bytes."""
        self._socket.sendall(struct.pack(">BBHHHH", 3, 0, 0, 0, self.width, self.height))
        rows = [bytearray(4 * self.width) for _ in range(self.height)]
        while (kind := self._read(1)[0]) != 0:
            assert kind in (2, 3)
            if kind == 3:
                self._read(3)
                self._read(struct.unpack(">I", self._read(4))[0])
        self._read(1)
        for _ in range(struct.unpack(">H", self._read(2))[0]):
            x, y, width, height, encoding = struct.unpack(">HHHHi", self._read(12))
            assert encoding == 0
            for row in range(y, y + height):
                rows[row][4 * x : 4 * (x + width)] = self._read(4 * width)
        return rows

    def close(self):
        self._socket.close()

    def _read(self, count):
        data = b""
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            assert piece, "the program left"
            data += piece
        return data


def connect(port, patience):
    """Connect as soon as the program listens."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), patience)
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, "the program does not listen"
            time.sleep(0.1)
