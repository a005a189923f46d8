import { SETTINGS } from "../../src/config/settings.ts"
import { REPORTABLE_CATEGORIES } from "../../src/contract/feedback-schema.ts"
import { LIMITS } from "../../src/contract/limits.ts"
import { ROUTES } from "../../src/contract/routes.ts"
import { TEST_ADDRESSES } from "../../src/contract/test-addresses.ts"
import { generateKey } from "../../src/customers/keys/key-format.ts"
import { benchAddresses, onceName } from "../load/addresses.ts"
import { seeded } from "../load/seeded-random.ts"
import { KEYS_PER_ACCOUNT } from "../servers/many-accounts.ts"

/** Who sends the requests of a soak. */
export type SoakCallers = {
  /** A key of the account that most requests come from. */
  readonly key: string
  /** Keys of many other accounts, all of each account in the order in which `addAccounts` gives them. */
  readonly keys: readonly string[]
}

/** One kind of request: how many of a thousand are of it, and how each is answered: its status, and the code of its problem. */
export type SoakKind = {
  readonly share: number
  readonly answer: string
  readonly of: (number: number, callers: SoakCallers) => SoakRequest
}

/** A request of a kind. `headers` absent: those of the main account; `body` absent: none. */
export type SoakRequest = {
  readonly method: "GET" | "POST" | "OPTIONS" | "DELETE"
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Inputs: addresses that come again and again, and domains that come so seldom that nothing kept of them is of use. */
const AGAIN = benchAddresses()
const againAt = (number: number): string => AGAIN[number % AGAIN.length] ?? ""
const inputAt = (number: number): string => (number % 4 === 0 ? onceName(number) : againAt(number))

/** Headers of who has no key, and of who has one. */
const NOBODY = {}
export const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })

/** So many clients without a key, each at an address of its own behind the proxy that the load program is. */
const CLIENTS = 20_000
const clientOf = (number: number) => {
  const client = number % CLIENTS
  return { "X-Forwarded-For": `198.18.${client >> 8}.${client & 255}` }
}

const posted = (body: object, headers?: SoakRequest["headers"]): SoakRequest => ({
  method: "POST",
  path: ROUTES.postCheck.path,
  body: JSON.stringify(body),
  ...(headers === undefined ? {} : { headers }),
})

const batchOf = (number: number, count: number): SoakRequest => ({
  method: "POST",
  path: ROUTES.postBatch.path,
  body: JSON.stringify({ items: Array.from({ length: count }, (_, at) => inputAt(number * 37 + at)) }),
})

const TESTED = Object.keys(TEST_ADDRESSES)
const testedAt = (number: number) => ({
  email: `${TESTED[number % TESTED.length]}@${SETTINGS.MAILKIND_TEST_DOMAIN.defaultValue}`,
})

/** Bodies that no check takes. */
const BAD_BODIES: readonly string[] = [
  "{",
  "[]",
  "{}",
  '{"email":7}',
  '{"email":"a@gmail.com","domain":"gmail.com"}',
  '{"email":"a@gmail.com","policy":"soft"}',
  '{"email":"a\\u0000@gmail.com"}',
  `{"email":"${"a".repeat(LIMITS.addressBytesMax)}@gmail.com"}`,
  `{"url":"https://gmail.com/${"a".repeat(LIMITS.urlLengthMax)}"}`,
]

const unknownKeys = seeded(4)
const unknownKey = (): string =>
  generateKey("secret", count => Uint8Array.from({ length: count }, () => Math.floor(unknownKeys() * 256)))

/** A key of another account, by its place in the account; the last one is for the pages of its customer. */
const keyAt = (number: number, place: number, { keys }: SoakCallers): string =>
  keys[((number * KEYS_PER_ACCOUNT) % keys.length) + place] ?? ""
const pageOf = (number: number, { keys }: SoakCallers): string =>
  `https://www.customer${number % (keys.length / KEYS_PER_ACCOUNT)}.example`

/** What a soak is made of. Each kind is answered in one way only, so that every other answer is a fault. */
export const SOAK_KINDS = {
  "POST of an address at a domain that comes again": {
    share: 400,
    answer: "200",
    of: number => posted({ email: againAt(number) }),
  },
  "POST of an address at a domain that seldom comes": {
    share: 140,
    answer: "200",
    of: number => posted({ email: `jane.doe${number}@${onceName(number)}` }),
  },
  "GET of an address": {
    share: 80,
    answer: "200",
    of: number => ({ method: "GET", path: `${ROUTES.getCheck.path}?email=${encodeURIComponent(againAt(number))}` }),
  },
  domain: { share: 60, answer: "200", of: number => posted({ domain: inputAt(number).replace(/^.*@/, "") }) },
  URL: {
    share: 60,
    answer: "200",
    of: number => posted({ url: `https://www.${inputAt(number).replace(/^.*@/, "")}/about?from=${number}` }),
  },
  "text that is no address": { share: 10, answer: "200", of: number => posted({ email: `${number} is no address` }) },
  "batch of five": { share: 25, answer: "200", of: number => batchOf(number, 5) },
  "full batch": { share: 3, answer: "200", of: number => batchOf(number, LIMITS.batchItemsMax) },
  "test address with a key": {
    share: 20,
    answer: "200",
    of: number => posted(testedAt(number)),
  },
  "test address without a key": {
    share: 20,
    answer: "200",
    of: number => posted(testedAt(number), { ...NOBODY, ...clientOf(number) }),
  },
  "secret key of another account": {
    share: 20,
    answer: "200",
    of: (number, callers) => posted({ email: againAt(number) }, bearer(keyAt(number, number % 2, callers))),
  },
  "publishable key on its page": {
    share: 20,
    answer: "200",
    of: (number, callers) =>
      posted({ email: againAt(number) }, { ...bearer(keyAt(number, 2, callers)), Origin: pageOf(number, callers) }),
  },
  "publishable key elsewhere": {
    share: 5,
    answer: "403 forbidden_origin",
    of: (number, callers) =>
      posted(
        { email: againAt(number) },
        { ...bearer(keyAt(number, 2, callers)), Origin: `https://${onceName(number)}` },
      ),
  },
  "preflight of a page that nobody knows": {
    share: 10,
    answer: "204",
    of: number => ({
      method: "OPTIONS",
      path: ROUTES.postCheck.path,
      headers: { Origin: `https://${onceName(number)}`, "Access-Control-Request-Method": "POST" },
    }),
  },
  "report of a wrong verdict, every second one again": {
    share: 1,
    answer: "202",
    // An account sends so many reports a day, so many accounts send them.
    of: (number, callers) => ({
      method: "POST",
      path: ROUTES.postFeedback.path,
      headers: bearer(keyAt(number >> 1, 0, callers)),
      body: JSON.stringify({
        email: `jane@${onceName(number >> 1)}`,
        expected_category: REPORTABLE_CATEGORIES[0],
        comment: "It is a shop.",
      }),
    }),
  },
  usage: { share: 2, answer: "200", of: () => ({ method: "GET", path: ROUTES.getUsage.path }) },
  health: { share: 20, answer: "200", of: () => ({ method: "GET", path: ROUTES.getHealth.path, headers: NOBODY }) },
  "body that no check takes": {
    share: 30,
    answer: "400 invalid_input",
    of: number => ({ method: "POST", path: ROUTES.postCheck.path, body: BAD_BODIES[number % BAD_BODIES.length] ?? "" }),
  },
  "batch of too many": {
    share: 1,
    answer: "413 batch_too_large",
    of: number => batchOf(number, LIMITS.batchItemsMax + 1),
  },
  "key that does not exist, another each time": {
    share: 30,
    answer: "401 invalid_key",
    of: number => posted({ email: againAt(number) }, bearer(unknownKey())),
  },
  "key with a slip of the pen": {
    share: 10,
    answer: "401 invalid_key",
    of: (number, callers) => posted({ email: againAt(number) }, bearer(`${keyAt(number, 0, callers).slice(0, -1)}-`)),
  },
  "no key": { share: 10, answer: "401 unauthorized", of: number => posted({ email: againAt(number) }, NOBODY) },
  "path that is not there": {
    share: 18,
    answer: "404 not_found",
    of: number => ({ method: "GET", path: `/v1/check/${onceName(number)}`, headers: NOBODY }),
  },
  "method that is not there": {
    share: 5,
    answer: "405 method_not_allowed",
    of: () => ({ method: "DELETE", path: ROUTES.postCheck.path }),
  },
} as const satisfies Record<string, SoakKind>
