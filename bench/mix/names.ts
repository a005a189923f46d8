/** Mailbox providers that most people use, with how many of a hundred addresses at providers are theirs. */
export const MAJOR_PROVIDERS: Readonly<Record<string, number>> = {
  "gmail.com": 46,
  "yahoo.com": 9,
  "hotmail.com": 8,
  "outlook.com": 6,
  "icloud.com": 5,
  "aol.com": 2,
  "live.com": 2,
  "msn.com": 1,
  "gmx.de": 2,
  "web.de": 2,
  "proton.me": 1,
}

/** Others, equally often. */
export const MINOR_PROVIDERS = words(`
  googlemail.com me.com mac.com ymail.com rocketmail.com protonmail.com gmx.net gmx.at gmx.ch t-online.de freenet.de mail.ru yandex.ru
  qq.com 163.com 126.com naver.com hanmail.net orange.fr wanadoo.fr free.fr laposte.net sfr.fr hotmail.fr hotmail.co.uk yahoo.co.uk
  yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.co.jp yahoo.com.br yahoo.co.in hotmail.it hotmail.de hotmail.es live.co.uk live.fr libero.it
  virgilio.it wp.pl o2.pl onet.pl interia.pl seznam.cz uol.com.br bol.com.br terra.com.br rediffmail.com comcast.net verizon.net att.net
  sbcglobal.net bellsouth.net cox.net btinternet.com sky.com virginmedia.com talktalk.net bigpond.com fastmail.com zoho.com`)

/** Names that the lists hold, by set. */
export const LISTED = {
  disposable: words(`
    mailinator.com yopmail.com guerrillamail.com 10minutemail.com temp-mail.org trashmail.com sharklasers.com getnada.com maildrop.cc
    dispostable.com 0-mail.com 24hourmail.com bladesmail.net choicemail1.com e-mail.org emailnator.com evilgodshop.uk femailtor.com
    freemeil.ml hh7f.com icemail.club killmail.net mailforspam.com mailzilla.com minimail.gq nervtmich.net nowmymail.net recyclemail.dk
    safetymail.info shortmail.net taomail.web.id tmailinator.com trfu.to`),
  relay: words(
    "duck.com mozmail.com privaterelay.appleid.com simplelogin.com addy.io anonaddy.me passmail.com burnermail.io 33mail.com",
  ),
  education: words(`
    stanford.edu mit.edu cs.princeton.edu ox.ac.uk cam.ac.uk student.unimelb.edu.au u-tokyo.ac.jp tsinghua.edu.cn ethz.ch iitb.ac.in
    hshl.de aalto.fi kunsthochschule-mainz.de hennepintech.edu escapestudios.com bishopgorman.org inrs.ca student.sek.sa greenriver.edu
    unifieo.br iisc.ernet.in shsmu.edu.cn wheatonma.edu ccet.ac.in`),
  government: words(`
    service.gov.uk nasa.gov bundestag.de goettingen.de cityofbellevue.com ville-toulon.fr helsedirektoratet.no ingolstadt.de kerpen.de
    aarhus.dk city.kitakyushu.jp policija.lt countyofriverside.us bcassessment.ca audit.wales cham.ch meteofrance.com diplomatie.gouv.fr`),
  organisation: words(`
    adobe.com bmw.com otto.de midjourney.com honda.com box.com randstad.fr kornferry.com nokiantyres.com ssab.se superloop.com
    bacardilimited.com interhome.com themeforest.net elo7.com.br traefik.io duke-energy.com jenoptik.com credem.it westhamunited.co.uk`),
  free: words("ddns.net no-ip.org pp.ua eu.cc is-a.dev cloudns.asia dynv6.net hopto.org zapto.org us.kg"),
} as const satisfies Record<string, readonly string[]>

/** Names that a look-alike is made of. */
export const IMITATED = words("paypal microsoft google amazon apple facebook netflix linkedin")

/** Words and endings of names of companies. */
export const TRADES = words("harbor granite lattice meridian copper juniper anvil quarry beacon willow")
export const COMPANY_SUFFIXES = words("com com com com de de co.uk fr net io eu nl it es pl org com.au ch at be se")

/** Parts of names of companies that are not spelled in ASCII. */
export const IDN_WORDS = words(
  "müller bücher größe café señora ångström łódź çelik žitko blåbær école käse förster naïve",
)
export const IDN_ENDINGS = words("technik haus shop bau design foto reisen werk")
export const IDN_OTHERS = words("пример.рф компания.рф магазин.бел 例え.jp 会社.com 公司.cn 회사.kr εταιρεία.gr")

/** Names of persons. */
export const FIRST_NAMES = words(`
  jane omar li anna pedro noor ivan sofia kofi mei james mary robert patricia john jennifer michael linda david elizabeth thomas sarah
  daniel laura peter julia stefan katrin lukas marie jean luca giulia carlos maria jose ana joao raj priya amit wei yuki hiroshi ahmed
  fatima ali olga dmitri piotr agnieszka lars ingrid erik emma noah liam olivia mia`)
export const LAST_NAMES = words(`
  smith tanaka mueller okafor rossi novak garcia singh larsen dubois johnson williams brown jones miller davis wilson moore taylor
  anderson schmidt schneider fischer weber meyer wagner becker schulz martin bernard petit robert moreau russo ferrari silva santos
  pereira lopez martinez gonzalez kumar sharma patel wang zhang chen kim lee park suzuki sato ivanov petrov kowalski nowak hansen
  andersson nilsson jansen devries`)

/** Local parts of roles, the first ones most often. */
export const ROLES = words(`
  info sales support contact admin office hello billing hr jobs marketing accounts service help team mail press orders booking webmaster
  postmaster noreply no-reply abuse kontakt vertrieb buchhaltung bewerbung rechnung einkauf ventas contabilidad facturacion
  administracion compta commercial accueil contato financeiro ordini amministrazione biuro zamowienia customerservice customer-service
  accounts.payable accountsreceivable enquiries reservations reception careers security legal privacy newsletter export`)
/** What may stand behind a role's word. */
export const ROLE_PLACES = words("de uk us fr berlin london paris europe eu india")

export const TAGS = words("news shop test spam newsletter work invoices signup trial github amazon")
export const PATHS = words(
  "about contact en/products/overview blog/2026/11/how-we-work impressum jobs/4711 index.html pricing team/board",
)

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}
