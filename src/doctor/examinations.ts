import { faultCode } from "../base/fault-code.ts"
import type { Later } from "../base/timer.ts"
import { type Examined, failing } from "./examined.ts"

/** Everything that is looked at, in the order in which it is told. */
export const EXAMINATIONS = {
  settings: { says: "Every setting that is set is known, and can be read." },
  directory: { says: "The data directory is there, for its owner alone, and can be written and mapped." },
  disk: { says: "There is room on its disk." },
  database: { says: "The database opens, every page of it is whole, and its tables are of this version." },
  dns: { says: "Each DNS server knows the canaries." },
  clock: { says: "The clock agrees with what was written before, and with the servers that are asked." },
  smtp: { says: "The mail server takes a connection, TLS and the log-in." },
  identity: { says: "The identity endpoint answers." },
  rdap: { says: "The RDAP bootstrap can be downloaded and read." },
  leak_keys: { says: "The leak reporter's public keys can be downloaded and read." },
  lists: { says: "Every byte of the lists is right, and they are fresh." },
  port: { says: "Our server answers on the port, or the port is free." },
  outbox: { says: "No mail waits for long." },
} as const satisfies Record<string, { readonly says: string }>
export type ExaminationName = keyof typeof EXAMINATIONS

/** All names, in their order. */
export const EXAMINATION_NAMES: readonly ExaminationName[] = Object.keys(EXAMINATIONS).filter(isExamination)

/** How long one examination may take; they run side by side, so the whole takes hardly longer. */
export const EXAMINATION_MS_MAX = 60_000

/** What is looked at, and how. An examination that rejects has failed. */
export type Examiners = { readonly [N in ExaminationName]: () => Promise<Examined> }

/** One row of what was found. */
export type Row = Examined & { readonly name: ExaminationName }

/** Whether something that can be looked at has this name. */
export function isExamination(name: string): name is ExaminationName {
  return Object.hasOwn(EXAMINATIONS, name)
}

/**
 * Looks at what the names name, side by side, and gives a row for each in the order of the table. It never rejects, and
 * settles within `EXAMINATION_MS_MAX`.
 */
export async function examine(
  examiners: Examiners,
  names: readonly ExaminationName[],
  later: Later,
): Promise<readonly Row[]> {
  const asked = EXAMINATION_NAMES.filter(name => names.includes(name))
  return await Promise.all(asked.map(async name => ({ name, ...(await within(examiners[name], later)) })))
}

async function within(look: () => Promise<Examined>, later: Later): Promise<Examined> {
  const { promise, resolve } = Promise.withResolvers<Examined>()
  const callOff = later(EXAMINATION_MS_MAX, () => resolve(TOO_LONG))
  // A message may hold anything; the name of a fault holds nothing.
  const found = Promise.try(look).catch(fault => failing(`It could not be looked at (${faultCode(fault)}).`, REPORT))
  return await Promise.race([found, promise]).finally(callOff)
}

const REPORT = "Report this as a fault of mailkind, with the version and the words in brackets."
const TOO_LONG = failing(
  `It was not over after ${EXAMINATION_MS_MAX / 1000} s.`,
  "Look whether the disk or the network of this host is stuck, and run `mailkind doctor` again.",
)
