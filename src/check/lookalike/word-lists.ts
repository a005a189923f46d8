import WORDS from "../../../data/common-words.txt" with { type: "text" }
import { pairAt } from "../../base/text.ts"
import { NameNumbers } from "../lists/name-numbers.ts"

/**
 * How strongly a word beside a known name asks for trust: 0 is a filler, 1 sounds official, 2 is about money or a parcel,
 * 3 is about signing in.
 */
export type AffixWeight = 0 | 1 | 2 | 3

const AFFIX_WORDS: { readonly [W in AffixWeight]: string } = {
  3: `account accounts acceso accesso anmelden anmeldung authenticate authentication compte comptes connexion
    conta credential credentials cuenta identity inloggen konto logging login logon logowanie passcode password
    passwort reactivate reactivation signin signon suspended suspension unlock validate validation verificacion
    verificar verifica verification verified verify verifying verifizierung webscr wachtwoord`,
  2: `billing claim claims colis confirm confirmation customs delivery deliver dispute factura facture fattura
    invoice invoices kyc livraison otp package paket parcel payment payments rechnung refund refunds reimbursement
    remboursement resolution shipment shipping sendungsverfolgung tracking track trackings unblock zustellung`,
  1: `activation airdrop alert alerts authenticator beveiliging giveaway helpdesk kundenservice notice
    notification notifications protect protection recover recovery refunded renew renewal reset resolve restore
    secure secured security securite seguranca seguridad sicherheit sicurezza support supports update updates
    updating upgrade wallet warning`,
  0: `access and app assistance auth by care center centre client clients com contact customer customers desk for
    form from global group help here home http https inc info international kunden link live llc ltd mail email
    mobile my net new notify now official on online org page portal process required rescue safe safety server
    service services session sign site smart status team the to unusual user users via web webmail website with
    www your`,
}

const WEIGHT_BY_AFFIX = new Map<string, AffixWeight>()
for (const weight of [0, 1, 2, 3] as const) {
  for (const word of AFFIX_WORDS[weight].split(/\s+/)) WEIGHT_BY_AFFIX.set(word, weight)
}

/**
 * The weight of a word beside a known name. Null: the word is not an affix, so the label is another name.
 */
export function affixWeight(word: string): AffixWeight | null {
  return WEIGHT_BY_AFFIX.get(word) ?? (word.length <= 2 || isNumber(word) ? 0 : null)
}

/** What may make a lure beside a known name: words of weight 1 to 3, and `com`. */
export const LURE_WORDS: readonly string[] = [...WEIGHT_BY_AFFIX]
  .filter(([word, weight]) => weight > 0 || word === "com")
  .map(([word]) => word)

/** Most words are ruled out by their first character. */
const isNumber = (word: string): boolean => word.charCodeAt(0) <= DIGIT_MAX && /^\d+$/.test(word)
const DIGIT_MAX = "9".charCodeAt(0)

/** Affixes that are recognised without a hyphen (`paypallogin`). */
const CONCATENABLE_AFFIXES = [...WEIGHT_BY_AFFIX]
  .filter(([word, weight]) => weight > 0 && word.length >= 5)
  .map(([word]) => word)

/** By two letters: most labels have those of none. */
const AFFIXES_BY_START = Map.groupBy(CONCATENABLE_AFFIXES, word => pairAt(word, 0))
const AFFIXES_BY_END = Map.groupBy(CONCATENABLE_AFFIXES, word => pairAt(word, word.length - 2))
const NO_AFFIXES: readonly string[] = []

/** The affixes of weight 1 to 3 that a label starts with. */
export function leadingAffixes(label: string): readonly string[] {
  return AFFIXES_BY_START.get(pairAt(label, 0))?.filter(word => label.startsWith(word)) ?? NO_AFFIXES
}

/** The affixes of weight 1 to 3 that a label ends with. */
export function trailingAffixes(label: string): readonly string[] {
  return AFFIXES_BY_END.get(pairAt(label, label.length - 2))?.filter(word => label.endsWith(word)) ?? NO_AFFIXES
}

/**
 * Labels of known names that are so generic that any company may combine them with a word: `mail-login.com` and
 * `web-support.de` imitate no one.
 */
const GENERIC_LABELS = new Set(
  `academy access account ads agent air alert alpha android api app apps art asia atlas atm auto bank beauty best
    beta bill bit black blog blue book booking books box british business buy call canada car card care career
    cars cash cell center central chain chat check china city class clean click client cloud club cms code coin
    company connect content core corporate credit crm crypto customer data deal demo design dev digital direct
    doctor domain dream drive easy edge edu education email employee energy english erp euro europe event express
    family fast fashion film finance first fit flash flight flow focus food forum france free fresh friend fun
    fund future game games german gift global gold good grand green group guide hand happy health help home host
    hosting hotel hotels house hub icon idea image inbox india info insurance international internet invest iot
    isp job jobs journal key kids land law lead learn legal life light like line link live local lock logic login
    london look love magazine mail market master media medical meet member menu metro mobile money moon music my
    name nation national natural net network new news next note now office one online open order page paper paris
    park partner party pass pay people phone photo pick place plan plant play plus point pos post power press
    price prime pro product profile project public pure quick radio real red rent report research review ride safe
    sale sales school science search secure security seed sense service shop silver simple site smart sms social
    soft software solar solo sound space sport sports spot staff star start state stay step stock store stream
    street student studio study style sun support surf survey swift system table talk tax team tech test text
    ticket time times today token tool tools top total tour track trade train training travel tree trend trust
    tube union unit university up usa user vault video view vip virtual vision vital vote vpn wallet watch water
    wave way web white wifi win wine wire wise work works world yes you young zone zip`.split(/\s+/),
)

/** Whether a known label is too generic to be imitated by combining it with a word. */
export const isGenericLabel = (label: string): boolean => GENERIC_LABELS.has(label)

/** Endings of inflected words; the word list has base forms only. */
const WORD_ENDINGS = ["s", "ly", "es", "ed", "ing", "er", "ers", "est", "y"]
const ENDINGS_BY_LAST_LETTER = Map.groupBy(WORD_ENDINGS, ending => ending.charCodeAt(ending.length - 1))

/** One syllable that ends with one vowel and a consonant that English doubles. */
const SHORT_STEM = /^[^aeiouy]+[aeiou][bdfgklmnprtz]$/
const DOUBLING_ENDING = /^(e|ing|y)/

/** The base forms, built on first use (2 ms, about 0.3 MB). */
let baseWords: NameNumbers | null = null

/** Whether a label is a common English word, with or without a common ending. */
export function isCommonWord(label: string): boolean {
  if (isBaseWord(label)) return true
  const endings = ENDINGS_BY_LAST_LETTER.get(label.charCodeAt(label.length - 1))
  if (endings === undefined) return false
  return endings.some(ending => label.endsWith(ending) && isInflectedStem(label.slice(0, -ending.length), ending))
}

/**
 * Whether a stem before an ending is a word. The ending may have replaced a final `e` or `y`, or doubled a last letter
 * that follows a vowel (`stopped`, but not `chartter`). No word doubles its final `e` (`rambleer`), and every word of one
 * syllable with one vowel and one consonant at its end doubles that (`charred`, not `charer`).
 */
function isInflectedStem(stem: string, ending: string): boolean {
  if (isBaseWord(stem)) {
    const isDoubledWord = SHORT_STEM.test(stem) && DOUBLING_ENDING.test(ending)
    return !(stem.endsWith("e") && ending.startsWith("e")) && (!isDoubledWord || isBaseWord(`${stem}e`))
  }
  if (ending === "s" || ending === "ly") return false
  if (stem.endsWith("i")) return isBaseWord(`${stem.slice(0, -1)}y`)
  const isDoubled = stem.at(-1) === stem.at(-2) && "aeiou".includes(stem.charAt(stem.length - 3))
  return isBaseWord(`${stem}e`) || (isDoubled && isBaseWord(stem.slice(0, -1)))
}

function isBaseWord(word: string): boolean {
  baseWords ??= readBaseWords()
  return word.length >= 3 && baseWords.numberOf(word) >= 0
}

function readBaseWords(): NameNumbers {
  const words = new NameNumbers()
  for (const word of commonBaseWords()) words.add(word)
  return words
}

/** The base forms of the common English words. */
export const commonBaseWords = (): readonly string[] => WORDS.split("\n").filter(line => !line.startsWith("#"))
