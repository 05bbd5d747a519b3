"""The small words of grammar, by which a clause is told apart from what it is about.

Layer: memory. Pure. Closed classes of English, German, French and Spanish, in small letters without accents; of other
languages nothing is known.
"""

from __future__ import annotations

from stead.memory import words

SPEAKER = frozenset("i im ive we ich wir je j nous yo nosotros nosotras".split())
OTHERS = frozenset(
    "he she they his her hers their theirs er sie ihr ihre ihrem ihren ihrer sein seine seinem seinen seiner il elle ils "
    "elles leur leurs ella ellos ellas su sus".split()
)
NEUTRAL = frozenset("it there this that es das il ce c esto eso hay".split())
NAMING = frozenset(
    "the a an my our this these those your all every each some any mein meine meinem meinen meiner unser unsere "
    "unserem unseren unserer der die das den dem ein eine einen mon ma mes notre nos le la les l un une des mi mis "
    "nuestro nuestra nuestros nuestras el los las una unos unas".split()
)
IS = frozenset(
    "is are was were am has have had will would can could should must s m re ve ist sind war waren bin hat habe haben "
    "est sont suis a ai avons es soy esta estan tiene tengo".split()
)
FUNCTION = words.STOP | SPEAKER | OTHERS | NEUTRAL | NAMING | IS
ROLES = frozenset("person persons persona personne user nutzer nutzers benutzer usuario utilisateur projekt team i".split())
"""What a model calls the person and their work, where they said "I" and "we"."""
