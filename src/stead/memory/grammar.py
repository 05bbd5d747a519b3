"""The small words of grammar, by which a clause is told apart from what it is about.

Layer: memory. Pure. Closed classes of English, German, French and Spanish, in small letters without accents; of other
languages nothing is known.
"""

from __future__ import annotations

from stead.domain.stop_words import STOP

_SPEAKER = "i im ive we ich wir je j nous yo nosotros nosotras"
_OTHERS = """
    he she they his her hers their theirs er sie ihr ihre ihrem ihren ihrer sein seine seinem seinen seiner il elle ils
    elles leur leurs ella ellos ellas su sus
"""
_NEUTRAL = "it there this that es das il ce c esto eso hay"
_NAMING = """
    the a an my our this these those your all every each some any mein meine meinem meinen meiner unser unsere unserem
    unseren unserer der die das den dem ein eine einen mon ma mes notre nos le la les l un une des mi mis nuestro
    nuestra nuestros nuestras el los las una unos unas
"""
_IS = """
    is are was were am has have had will would can could should must s m re ve ist sind war waren bin hat habe haben est
    sont suis a ai avons es soy esta estan tiene tengo
"""
_ROLES = "person persons persona personne user nutzer nutzers benutzer usuario utilisateur projekt team i"

SPEAKER = frozenset(_SPEAKER.split())
OTHERS = frozenset(_OTHERS.split())
NEUTRAL = frozenset(_NEUTRAL.split())
NAMING = frozenset(_NAMING.split())
IS = frozenset(_IS.split())
FUNCTION = STOP | SPEAKER | OTHERS | NEUTRAL | NAMING | IS
ROLES = frozenset(_ROLES.split())
"""What a model calls the person and their work, where they said "I" and "we"."""
