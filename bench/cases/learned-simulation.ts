import { seeded } from "../load/seeded-random.ts"

/** What kinds of host the world has, each with so many hosts and so many domains on all of them. */
export type SimulationScale = Readonly<Record<HostKind, { readonly hosts: number; readonly domains: number }>>

/** The kinds of host, with the share of throw-away domains on the most abused of them. */
export const HOST_KINDS = {
  throw_away: { description: "throw-away mailboxes only; lists know 50 to 100 % of a host's domains", abuseMax: 1 },
  small: {
    description: "small honest hosts; a sixth of their domains is throw-away, on some up to half",
    abuseMax: 0.5,
  },
  big: { description: "big shared hosts; up to a tenth of their domains are throw-away", abuseMax: 0.1 },
  per_customer: { description: "a host name for each customer of one honest provider", abuseMax: 0 },
  victim: { description: "an honest host at which listed domains are pointed", abuseMax: 0 },
} as const
export type HostKind = keyof typeof HOST_KINDS

/** A domain of the made-up world. */
export type SimulatedDomain = {
  readonly domain: string
  readonly kind: HostKind
  readonly mx: string
  /** The truth. */
  readonly isDisposable: boolean
  /** What our lists say. */
  readonly isListed: boolean
  /** How often it is checked, by how often others are. */
  readonly weight: number
}

/** Lists know most of the throw-away domains that stand on honest hosts. */
const LISTED_SHARE = 0.8

/** How popularity falls with rank: a few domains are checked again and again, most seldom. */
const WEIGHT_EXPONENT = 0.7

/** Builds a world that is the same on every run of a seed. So many listed domains are pointed at the victim's host. */
export function learnedWorld(scale: SimulationScale, attackers: number, seed: number): readonly SimulatedDomain[] {
  const random = seeded(seed)
  const kinds = Object.keys(HOST_KINDS) as HostKind[] // the keys of the table
  const domains: Unweighted[] = kinds.flatMap(kind => hostsOf(kind, scale[kind], random))
  const mx = domains.find(({ kind }) => kind === "victim")?.mx ?? ""
  for (let at = 0; at < attackers; at++)
    domains.push({ domain: `attack-${at}.com`, kind: "victim", mx, isDisposable: true, isListed: true })
  const ranks = shuffled(domains.length, random)
  return domains.map((domain, at) => ({ ...domain, weight: ((ranks[at] ?? 0) + 1) ** -WEIGHT_EXPONENT }))
}

type Unweighted = Omit<SimulatedDomain, "weight">

/** Every host has two domains, and the rest fall on hosts of their kind by chance, on some more than on others. */
function hostsOf(
  kind: HostKind,
  { hosts, domains }: { readonly hosts: number; readonly domains: number },
  random: () => number,
): readonly Unweighted[] {
  const abuse = Array.from(
    { length: hosts },
    () => (kind === "throw_away" ? 1 : random() ** 2) * HOST_KINDS[kind].abuseMax,
  )
  const listedShares = Array.from({ length: hosts }, () => (kind === "throw_away" ? 0.5 + random() / 2 : LISTED_SHARE))
  return Array.from({ length: domains }, (_, at) => {
    const host = at < 2 * hosts ? at % hosts : Math.floor(random() ** 1.5 * hosts)
    const isDisposable = random() < (abuse[host] ?? 0)
    const isListed = isDisposable && random() < (listedShares[host] ?? 0)
    const domain = `${kind.replace("_", "-")}-${at}.com`
    return { domain, kind, mx: hostName(kind, host, Math.floor(random() * 4)), isDisposable, isListed }
  })
}

const hostName = (kind: HostKind, host: number, server: number): string =>
  kind === "per_customer"
    ? `customer-${host}.mail.provider.net`
    : `mx${server}.${kind.replace("_", "-")}-host-${host}.net`

function shuffled(count: number, random: () => number): readonly number[] {
  const order = Array.from({ length: count }, (_, at) => ({ at, key: random() }))
  return order.sort((one, other) => one.key - other.key).map(({ at }) => at)
}
