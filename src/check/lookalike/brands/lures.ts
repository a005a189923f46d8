import { affixWeight } from "../word-lists.ts"

/**
 * Words that ask for trust beside a household brand, in the languages that fraud writes, besides the affixes that do so beside any known
 * name. Each stands here because a brand's customers do what it says: pay, sign in, ask for help, fetch a parcel, take a prize.
 */
const LURES = new Set(
  `2fa acceder acesso activar activate aktivieren aktivierung aktualisierung aktualizacja actualizar actualizacion
    aggiornamento aide airdrops ajuda alerta apelare appeal assistenza assistencia atendimento atualizacao auth
    authorize authorise autenticacion avviso ayuda bankieren bestaetigung bestatigung bestellung betaling betalen bezorging
    bonus cadastro cliente clientes clienti complaint connect copyright dispositivo
    dichiarazione dostawa download empresas entrega entrar envio espace espaceclient etransfer fatura
    freigabe gift gifts giftcard giris guvenli guvenlik hasla hilfe hjalp hulp identificacion identifizierung
    ingresar ingreso inicio iniciar inloggning klient klienci kunde kunden loteria loterie lost masuk
    mfa odbior odeme oplata oplaty oferta pagamento pagamenti pagamentos pago pagos paiement paiements
    pedido platba platnosc podpora pomoc potwierdz potwierdzenie premio premios prize promo przesylka
    quiz reaktivierung recompensa recompensas reconnect redeliver redelivery reembolso
    register reimburse remboursements reschedule restitution reward rewards rimborso rueckerstattung
    rueckzahlung sblocca secureportal seguro segura sendung sicher sicuro signup sms soporte
    ssl staking suivi suporte supporto syncing szamla transferencia unlocked unusual validar
    validacao vergi verificacao verificar verificatie verifikation verificare veilig verifizieren
    virement weryfikacja winner winners wplata yardim zahlung zahlungen zabezpieczenie zmiana zwrot`.split(/\s+/),
)

/** What fraud writes before a name so that it looks like an address: `www-`, `https-`, and slips of them. */
const ADDRESS_PATTERN = /^(?:w{2,6}|[vw]{3,6}|wwvw|h{1,2}t{1,2}ps?|htps|hhtp{1,2}s|hhtps)$/
/** The number of an order or a case. */
const CASE_NUMBER_PATTERN = /^\d{5,}[a-z]?$/

/** Whether a part beside a brand's label asks for trust. `weightMin`: the least weight of an affix that counts. */
export const isLure = (part: string, weightMin: number): boolean =>
  (affixWeight(part) ?? 0) >= weightMin ||
  LURES.has(part) ||
  ADDRESS_PATTERN.test(part) ||
  CASE_NUMBER_PATTERN.test(part)

/**
 * What a company calls a part of itself, or a building with its name: owners, and nearly nobody else, register these beside a
 * brand (`ebayinc`, `xfinitycenter`, `bmw-stiftung`).
 */
const CORPORATE_WORDS = new Set(
  `api apis alumni arena assets brand careers capital cdn centre center corp corporate corporation cup dns
    engineering fondation foundation fundacion fundacao field forum group gruppe groupe holding holdings images img inc
    insider investor investors jobs labs life media museum newsroom objects park partners press records research
    sports stadium static status stiftung stories tech techblog usercontent ventures`.split(/\s+/),
)

/** Whether a company calls a part of itself so. */
export const isCorporateWord = (word: string): boolean => CORPORATE_WORDS.has(word)
