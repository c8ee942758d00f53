"""A few professional games for benchmarks, so that they need no other file.

Played between 1697 and 1897: their moves are in the public domain. Two letters a move, column and row from the top left
as in SGF, Black first, 19x19, no handicap.
"""

from __future__ import annotations

import lzma
from pathlib import Path

from engine.sgf import letters_to_actions

GAMES = (
    # 1697-09-24
    "cppqqdockceqpcndpfpbqbofpgkehcqnkqdenqjqjpiqkpcmdogpdqerencjdrnpmpopqkmoepmqmrkrlrjrholplqgognhnhpgqgmiploin"
    "mplclbldchejbecdbdccdfefdgcecfbgbhbcbffcfhemnbmnorpjpkqinknjmjokolojnlmkmllkllmionqmporpplprkkljogibicjbkbhb"
    "jcnfobklkmjljmnolnikkhkjjflgrlrgrfqgqfrjblbmbjbobpclckdkbkflgcgbfdedfeeejesfsesgqegippoqqprqsoosroqoslqqnmnr"
    "jnioghhhhgihkgigfikfjggglhnghfifgfiemgmflfleidhefgpdpafofnglgjdncndmeocoaobnesfsfrdsfqgreserbrcsbsmcmbjaacab"
    "adbbjihjhiiijjijphmhlgohoinhpiqjoerkqlnegkcibifkmqjokommlmspsnoopneididjdhcrcqesskqhsjsijkilkskajsislsgseqla"
    "manshlimalgifjfm",
    # 1796-12-15
    "cppqqdednceqqoqkqhoppnnnplpiphniohnkhqdocodncmjqhopkrqjofodpcqdmclgpjpkpipkqjnkohmdldkekejfkiogqhrfmhkfjdjic"
    "hifhccdccddeklceqllkkklcmcldmecibjbfhghfggifgfgefegddbebbdbbcgbgfcfdecfbnlqiqrqqrrprfneilbkbmblebichegehmflf"
    "gidqcrfikskrlnknkmlopsosqsorkajbhbibrhkjjjljjingofmgrkrishrjskkgjslsirlmoonoqpppefdgdrcjckgngogmglflhnjminll"
    "ilbhokojolnfneogpgoimlcnbnmkkilikhlhjgjffreresgrgsigihghhhgjhjaibkmdndjalaompmjrismmajahdfcfdidhnhmhenemgkjh",
    # 1838-02-16
    "qddccpocceeqpqqopeedndmcqkdfcgdocodncmdmcldldqdrcrdpcqckbcnppoqpppqqqnrnqmrmrlqrprkpiqipfqepfrerjqjpkqlqlrmr"
    "krlponmdicgcienepckcigcnbnbkbmcsbrfshrogqgiicfhpsmsogsghgfbbcccbdifgficidhffkfkhmfoegidjejmhgbfbhcgdkdjdjcke"
    "kbldlbjeifhbibgakgidhdhegeiahfjakapbqbpfqfihnhngmgminbobncodmbmenfofohphoipiojpgqhpdqcqererfpehajbqergrdpepj"
    "pkqesfrbrcqapeoknkqesdnamalclfleoalhsbraqjpanabhlkkkjfjhfpfogogpfneoglllmlfeqiehegfheihjgjhkfkbgimmmlmklnmhn"
    "gnhmbfbdcdacbjbiajdkekbsbpaiaggmfmhqesgqgrisirjslsmsafadelgkalakarjrblcjemdsaskschfshsjsenjrmqnqahisesolnjfs"
    "ksjsajmnesnlmkfsnrmpesplqlfsnsmqesljpmfsdejreshgscfsisjsesmjomfsefjrsa",
    # 1843-08-27
    "qddeocqpeqcpoqdcqmpoqjkqcmdocjdqcgnpmqnqnrmplqlpkrjrjqkplriqqremdrcrfnjpendmdncnclfmgmgnepfkgohnhoindpcqgqfr"
    "ergriobnjnhljojllnpqproporllmmpmplommlolmkpkpjojoinjglgkimhmilhkikohijphrhrgriqgpiniqldicikcdhghickjljlikkji"
    "jjkimclkklmjlmgcgbfckdldlcjdkbkejcbfbgndmdmekdleodnebmncnbobpbkclbcfafaeagbeanaoamaprorpqnhbhcibjbfbeococsbs"
    "esdshrhqhshehjgifgegehfhefggeidkdlelckgjffdfdgirfsrerdqepepfoeofidierqsdscsercsosnspqqqorndjkdjeljgpfqhpcsbr"
    "gfhfnnooqkokiagaejekhihhiiihlksqsrkslsfpfokoknshsisggdfdeeedqhipkcppjsisgsdskscs",
    # 1849-12-31
    "cppqeqcdpcqeodqoecickcdefdkdlciecbcjefdgqigccceefebcbbbdfcrcclgbhfhegffgffeghhldmdmendkfrbqgqleodnfqkqmqhqdq"
    "dpepergqdrhpiqendmiojojnkoipjpimjgqcqbhrirpbobmorhrgrnpkqkqnrorpqmsormlrknonlpmpkrbkblejhkglkgjcomqhpinmolnn"
    "riogjbpdpaibkbfbeboehlhmjminjlgjdkdjgkflfkalamakbngiemfmghfhdfcflqmrcgchnenfmfngmhmknkmjnjmlphpgrdsdsescsbqd"
    "sgddckbjkjiihijjijikhjjkkkiljikijhoiohniojiajaabfrgrlikmkllmlfkeelgnmgdocoljfjfilsmsksdcdbifsnspfagaeaigihrf"
    "sfpmplpnjfjegdhdlelnisfsesgsba",
    # 1870-05-06
    "cpcdpqqoqeeqoppnonomnnnmmmpllniqdofpecodpcocpbiccgdecbfdfcgdhbcjegdhdgffejekfjcmfofkgjdjgkfmgpgqhpjrdqmomndr"
    "crqgpgqhdmdlemeoenepflelglfndnblgodpcocqbqhcibjbgciagajdpfobkcjcmflemeldipjphqhrgrfrfqgskqjqgqmqdqerfsescsio"
    "hnkpphqipiqjdscqedeedqoeqfcqqpbbccbcddbedqcadbcqpoqndqparbcqrorndqpdqdcqcfcedqlhkglglfkfjfkengihfgghgghghihh"
    "eicqmdmcdqorfsprqrgfjikhbnchagbhqaiijjrqnrnqoqrpmrlrpshsrgrhrfpjoanbnljnjmkk",
    # 1883-12-16
    "qdqpdccecpeqdockfpgqfddhoqndlcpdqcpfpeoeqephpoqopnqmiqgpiofopmqnofnfogplmeneohmfolokpkqlnloinipimhnjmjpgnkoj"
    "lhkdmckgncnhngmgnhkhkjmddqimknepcmpqoropnpppnocccbbcjcddeddbecjdicebfbbbdedfcdbehrkmlmjnjolnkollmmfmkiklmkbm"
    "bnblhnglgnfndmdrcrdscsfrrgrhlgidhdhegdocobkckbldpcihikhlhfifgeieqgqfrfqhqrprpsrrrsqqqsnqnroonnosnssqlf",
    # 1897-01-17
    "qddeeqoccpppdccccickeidbcmdocoekgjdmglclcnfmgmgnflfoeldlhnhoioinhmhpjoemejkcpfqkqnqhonnpjqpmpnqpnrnqfpepdpeo"
    "pkpjokqlgqbmbnalprmroqopmqlrlqkrqrnsorkqmomplpkplorqhqjripgorrsrirmskoosnlecrgqgqfrhmcndmdnfkdjdkejcmeneqbnh"
    "mgngiflihdhbgfheiepbpcpdqcnbgcrfresgpaobgbmbpeodselkbflmklllnnfdbjbkgecfcgbedfcekjljkikkjkkhjhkgjgjlikhcgdef"
    "lclbkfjmojmnqjrjpiqirlrkrmoaqadhohsfmh",
)


def read_games(path: Path, count: int) -> list[list[int]]:
    """Read `count` even 19x19 games, spread over a table of records (.tsv, or .tsv.xz).

    A line has the columns size, komi, rules, result, date, black set-up, white set-up, first, moves.
    """
    text = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    rows = [line.split("\t") for line in text.decode("utf-8").splitlines()]
    games = [row[8] for row in rows if len(row) == 9 and row[0] == "19" and row[7] == "B" and not row[5] and not row[6]]
    return [letters_to_actions(moves) for moves in games[:: max(1, len(games) // count)][:count]]
