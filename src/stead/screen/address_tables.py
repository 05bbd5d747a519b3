"""Which names end a host name, and how long each country's account numbers are.

Layer: screen. Data only. Sources: IANA's list of top-level domains, of which the usual ones are here; SWIFT's IBAN
registry.
"""

from __future__ import annotations

_GENERIC = """
com org net edu gov mil int info biz app dev xyz top site online store shop tech club live link page web blog cloud
digital email space website world today news media agency group team work wiki win vip icu cyou sbs cfd bond buzz fun
pro mobi asia eu art design studio academy bank money finance loan credit cash pay gift promo sale support help host
press review science party trade date download stream accountant faith men bid webcam zone network systems solutions
services company ltd inc llc global center centre city guru life love one earth fyi gg lol rip run ninja rocks social
software security bar cafe chat codes community direct directory domains events express fail fit foundation game games
gmbh health ink international jobs kim land law legal limited london berlin paris market marketing monster mov zip new
nyc onion test example local localhost internal arpa aero coop museum travel tel cat post
"""

_COUNTRIES = """
ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd cf
cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb gd ge gf
gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km
kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na
nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pm pn pr pt pw qa re ro ru rw sa sb sc sd se sg si sk sl sm sn
sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws
ye yt za zm zw
"""

HOST_ENDINGS = frozenset(_GENERIC.split()) | frozenset(_COUNTRIES.split())
"""Last labels that make a bare name a link. Usual file endings (md, pl, ps, py, rs, sh, so) are left out."""

_ACCOUNTS = """
AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24
FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32
LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24
RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30
"""

IBAN_LENGTHS = {row[:2]: int(row[2:]) for row in _ACCOUNTS.split()}
"""Characters of an IBAN by country code."""
