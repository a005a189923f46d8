import { LIMITS } from "../../src/contract/limits.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { type MixLine, mixLines, take } from "../mix/mix.ts"
import { seeded } from "./seeded-random.ts"

/** One request of a mix: where to, and its body. */
export type MixRequest = { readonly path: string; readonly body: string }

/** What a mix is made of, each from the realistic mix by number. */
export const MIX_KINDS = {
  check: { description: "POST /v1/check of an address", of: number => checkOf({ email: inputAt("address", number) }) },
  domain: { description: "POST /v1/check of a domain", of: number => checkOf({ domain: inputAt("domain", number) }) },
  url: { description: "POST /v1/check of a website's URL", of: number => checkOf({ url: inputAt("url", number) }) },
  batch: { description: "POST /v1/check/batch of 100 of all three", of: number => batchOf(number) },
} as const satisfies Record<string, { readonly description: string; readonly of: (number: number) => MixRequest }>
export type MixKind = keyof typeof MIX_KINDS

/** How many parts of a mix are of each kind. */
export type Mix = Readonly<Partial<Record<MixKind, number>>>

/** A mix is sent in turns of so many requests, in which every kind has its share. */
const TURN = 1000

/** Reads `check=80,batch=10,domain=10`; null when a kind is unknown or there twice, or a share is no positive number. */
export function readMix(text: string): Mix | null {
  const mix: Partial<Record<MixKind, number>> = {}
  for (const part of text.split(",")) {
    const [, name = "", digits] = /^\s*([a-z]+)=(\d+(?:\.\d+)?)\s*$/.exec(part) ?? []
    const share = Number(digits)
    if (!isKind(name) || mix[name] !== undefined || !(share > 0 && share < TURN)) return null
    mix[name] = share
  }
  return mix
}

const isKind = (name: string): name is MixKind => Object.hasOwn(MIX_KINDS, name)

/** The requests of a mix, the kinds mingled, the same on every call. A kind with the smallest share has one of them. */
export function mixRequests(mix: Mix): readonly MixRequest[] {
  const shares = Object.entries(mix) as [MixKind, number][] // the keys are those of MIX_KINDS
  const whole = shares.reduce((sum, [, share]) => sum + share, 0)
  const random = seeded(7)
  return shares
    .flatMap(([kind, share]) =>
      Array.from({ length: Math.max(1, Math.round((share / whole) * TURN)) }, (_, number) => ({
        place: random(),
        request: MIX_KINDS[kind].of(number),
      })),
    )
    .sort((one, other) => one.place - other.place)
    .map(({ request }) => request)
}

/** So many lines of the realistic mix, sorted by what they are. */
const INPUTS_COUNT = 4_000
type Inputs = Readonly<Record<"address" | "domain" | "url", readonly string[]>>
let inputs: Inputs | null = null

/** Reads the mix when it is asked for first: a load of other requests starts sooner. */
function inputAt(kind: keyof Inputs, number: number): string {
  inputs ??= inputsByKind()
  return inputs[kind][number % inputs[kind].length] ?? ""
}

/** Inputs that can be checked: a slip in an ending may make a name that no domain can have. */
function inputsByKind(): Inputs {
  const lines = take(mixLines(), INPUTS_COUNT).filter(
    ({ kind, at }) => kind !== "invalid" && at !== "typo" && at !== "idn",
  )
  const textsOf = (isOne: (kind: MixLine["kind"]) => boolean): readonly string[] =>
    lines.flatMap(({ kind, text }) => (isOne(kind) ? [text] : []))
  return {
    address: textsOf(kind => kind !== "domain" && kind !== "url"),
    domain: textsOf(kind => kind === "domain"),
    url: textsOf(kind => kind === "url"),
  }
}

const checkOf = (body: object): MixRequest => ({ path: ROUTES.postCheck.path, body: JSON.stringify(body) })

/** Each batch starts elsewhere, so that few are alike. */
function batchOf(number: number): MixRequest {
  const items = Array.from({ length: LIMITS.batchItemsMax }, (_, at) => {
    const input = number * 37 + at
    return inputAt(at % 10 === 0 ? "domain" : at % 10 === 1 ? "url" : "address", input)
  })
  return { path: ROUTES.postBatch.path, body: JSON.stringify({ items }) }
}
