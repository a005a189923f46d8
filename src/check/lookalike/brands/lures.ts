import { affixWeight } from "../word-lists.ts"

// Words that ask for trust beside a household brand, in the languages that fraud writes, besides the affixes that do so beside any known
// name. Each stands here because a brand's customers do what it says: pay, sign in, ask for help, fetch a parcel, take a prize.

/** Words about signing in, money or a parcel: they ask for trust beside a word of the language too (`visa-zahlung`). */
const STRONG_LURES = new Set(
  `2fa acceder acesso activar aktivieren aktivierung aktualisierung aktualizacja actualizar actualizacion aggiornamento
    airdrops atualizacao auth authorize authorise autenticacion bestaetigung bestatigung betaling betalen bezorging
    dostawa entrega espaceclient etransfer fatura freigabe giftcard giris hasla identificacion identifizierung ingresar
    ingreso inloggning masuk mfa odbior odeme oplata oplaty pagamento pagamenti pagamentos pago pagos paiement paiements
    platba platnosc potwierdz potwierdzenie przesylka reaktivierung redeliver redelivery reembolso reimburse
    remboursements rimborso rueckerstattung rueckzahlung sblocca secureportal sendung suivi szamla transferencia
    unlocked validar validacao verificacao verificar verificatie verifikation verificare verifizieren virement
    weryfikacja wplata zahlung zahlungen zabezpieczenie zwrot`.split(/\s+/),
)

/** Words of help, gifts and news, which honest firms put beside words of the language too (`visa-hilfe`). */
const WEAK_LURES = new Set(
  `activate aide ajuda alerta apelare appeal assistenza assistencia atendimento avviso ayuda bankieren bestellung bonus
    cadastro cliente clientes clienti complaint connect copyright dispositivo dichiarazione download empresas entrar
    envio espace gift gifts guvenli guvenlik hilfe hjalp hulp inicio iniciar klient klienci kunde kunden loteria loterie
    lost oferta pedido podpora pomoc premio premios prize promo quiz recompensa recompensas reconnect register
    reschedule restitution reward rewards seguro segura sicher sicuro signup sms soporte ssl staking suporte supporto
    syncing unusual vergi veilig winner winners yardim zmiana`.split(/\s+/),
)

/** What fraud writes before a name so that it looks like an address: `www-`, `https-`, and slips of them. */
const ADDRESS_PATTERN = /^(?:w{2,6}|[vw]{3,6}|wwvw|h{1,2}t{1,2}ps?|htps|hhtp{1,2}s|hhtps)$/
/** The number of an order or a case. */
const CASE_NUMBER_PATTERN = /^\d{5,}[a-z]?$/

/** Whether a part beside a brand's label asks for trust. */
export const isLure = (part: string): boolean =>
  (affixWeight(part) ?? 0) >= 1 || WEAK_LURES.has(part) || isStrongLure(part)

/** Whether a part asks for trust even beside a word of the language: it is about money, a parcel or signing in. */
export const isStrongLure = (part: string): boolean =>
  (affixWeight(part) ?? 0) >= 2 ||
  STRONG_LURES.has(part) ||
  ADDRESS_PATTERN.test(part) ||
  CASE_NUMBER_PATTERN.test(part)

/**
 * What a company calls a part of itself, or a building with its name: owners, and nearly nobody else, register these beside a
 * brand (`ebayinc`, `xfinityarena`, `bmw-stiftung`).
 */
const CORPORATE_WORDS = new Set(
  `alumni arena assets brand careers capital cdn corp corporate corporation cup dns
    engineering fondation foundation fundacion fundacao field forum group gruppe groupe holding holdings img inc
    insider investor investors jobs labs life media museum newsroom objects park partners press records research
    sports stadium static stiftung stories techblog usercontent ventures`.split(/\s+/),
)

/** Whether a company calls a part of itself so. */
export const isCorporateWord = (word: string): boolean => CORPORATE_WORDS.has(word)
