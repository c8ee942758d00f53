"""Sekis and kos, most of them kinds that the life-and-death examples of the Japanese rules of 1989 treat."""

from judged_case import Case, corner, side

CASES = [
    Case("seki with three inside", corner(".OOO.X", "XXXXXX"),
        "White playing there makes four in a row, which live; Black playing is in atari", seki="F9 B9",
        area=-11, territory=2, j89=True, gnugo=True),
    Case("seki with a dame outside", corner(".OOO.X", "XXXXXX", "OOOO.O"),
        "taking the three stones would cost Black the group; E7 is dame", seki="F9 B9", dame="E7", area=-10,
        territory=2, j89=True, gnugo=True),
    Case("seki, eye against eye", corner(".O.X.X", "OOXXXX", "XXXOOO"),
        "C9 is shared: who plays there is captured", seki="A8 C8", area=-6, territory=2, j89=True, gnugo=True),
    Case("two kos that Black cannot end", corner("OX.XO.", "OOXXXO", ".OX.XO", "OOXXXO"),
        "connecting in either ko fills the eye, so White wins both in the end", dead="B9 D9", area=-27,
        territory=-22, j89=True, gnugo=True),
    Case("a ko that Black cannot end", corner("OX.X.X", "OOXXXX"),
        "White takes B9 by C9 whenever it likes; Black cannot make the ko go away", dead="B9 D9", area=-27,
        territory=-14, j89=True, gnugo=True),
    Case("seki between two chains", (".OX.OX...", ".OX.OX...", ".OXXOX...", ".OOOXX...", *["...OX...."] * 5,),
        "D9 and D8 are shared; whoever plays first loses the race", seki="C9 E9", area=13, territory=13,
        j89=True, gnugo=True),
    Case("double ko seki",
        (".XO.OXO.O", "XXOOXXOOO", ".XO.XXO.O", "XXOOXXOOO", ".XOX.XO.O", "XXOOXXOOO", "XXXXOOOOO",
         ".X.XO.O.O", "XXXXOOOOO",),
        "each side holds one ko: who takes the other's loses its own to the answer, and D7 is nobody's: who "
        "fills it is captured", seki="C9 E9 F9 D5", area=-8, territory=0, j89=True, gnugo=True),
    Case("moonshine life",
        (".XO.OXO.OOOOO", "XXOOXXOOOOOOO", ".XO.XXO.OOOOO", "XXOOXXOOOOOOO", ".XOX.XO.OOOOO", "XXOOXXOOOOOOO",
         "XXXXOOOOOOOOO", ".X.XO.OOOOOOO", "XXXXOOOOOOOOO", ".X.XO.OOOOOOO", "XXXXOOOOOOOOO",
         ".X.XO.OXXXXOO", "XXXXOOOX.X.XO",),
        "Black's corner could only live by a ko, with the double ko seki above as threats without end; in "
        "the confirmation a ko is taken back only after a pass, and where positions must not repeat the "
        "threats run out", dead="H2 M1", seki="C13 E13 F13 D9", area=-64, territory=-13, j89=True, gnugo=True),
    Case("ten-thousand-year ko",
        (".OXX.XXXX", "OOXXXXXOO", ".OX.XXOO.", "OOXXXOOXO", ".OX.XOXXX", "OOXXXO.X.", ".OX.XOOOO",
         "OOXXXXXXX", ".OX.X.X.X",),
        "White connects and it is a seki; Black can take first and then connect. Left alone it counts as a "
        "seki (rules of 1989)", seki="H8 J6 G5", open="J6", black_move="J7", white_move="J7", area=15,
        territory=2, j89=True),
    Case("three points without capturing",
        side(".XXO.O.O.", "OXXOOOOOO", "XOOO.O.O.", "XXXOOOOOO", "XXXXXXXXX", ".X.X.X.X."),
        "White takes four and loses two back: it should before the end. Left alone it is a seki (rules of "
        "1989; the old ruling was three points)", seki="B9 A8", open="B9", white_move="A9", area=26,
        territory=4, j89=True),
    Case("two kos, one held by each side", corner(".X.XOO", "XXXOOO", "OXOOOO", ".OOOOO"),
        "White connects at A6; the ko that is left Black cannot end", dead="B9 D9", area=-27, territory=-13,
        j89=True, gnugo=True),
    Case("three chains in one seki",
        ("OOX.X.O.X.XOO", "OOXXXOOOXXXOO", "OOOOOXXXOOOOO", "O.O.OXXXO.O.O", "OOOOOX.XOOOOO", "XXXXXXXXXXXXX",
         ".X.X.X.X.X.X.", "XXXXXXXXXXXXX", "OOOOOOOOOOOOO", ".O.O.O.O.O.O.", "OOOOOOOOOOOOO", ".O.O.O.O.O.O.",
         "OOOOOOOOOOOOO",),
        "D13 and K13 are eyes in seki; who plays F13 or H13 is captured", seki="C13 G13 J13", area=-47,
        territory=-10, j89=True, gnugo=True),
]
