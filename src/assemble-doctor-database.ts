import { join } from "node:path"
import type { Settings } from "./config/settings.ts"
import { lookIntoPostgres, type PostgresLook } from "./customers/store/postgres-look.ts"
import { StoreFault } from "./customers/store/store-fault.ts"
import { examineDatabase, examineOutbox, lastWrittenAtMs } from "./doctor/database.ts"
import type { Examined } from "./doctor/examined.ts"
import { examinePostgres, examinePostgresOutbox } from "./doctor/postgres.ts"

/** What looks at the database of some settings, whichever engine it is of. */
export type DatabaseExaminers = {
  /** `elsewhere` looks in another process, where a look would keep this one too long. */
  readonly database: (elsewhere: (() => Promise<Examined>) | null) => Promise<Examined>
  readonly outbox: (nowMs: number) => Promise<Examined>
  /** When it was last written, as far as it tells. */
  readonly writtenAtMs: () => Promise<number | null>
}

/** Builds them. PostgreSQL is looked into once for all. */
export function databaseExaminers({
  MAILKIND_DATABASE_URL: url,
  MAILKIND_DATA_DIR: directory,
  MAILKIND_SMTP_URL: smtp,
}: Settings): DatabaseExaminers {
  const hasServer = smtp !== null
  if (url === null) {
    const path = join(directory, "mailkind.sqlite")
    return {
      database: async elsewhere => (elsewhere === null ? examineDatabase(path) : await elsewhere()),
      outbox: async nowMs => examineOutbox(path, nowMs, hasServer),
      writtenAtMs: async () => lastWrittenAtMs(path),
    }
  }
  let look: Promise<PostgresLook> | null = null
  const looking = (): Promise<PostgresLook> => {
    look ??= lookIntoPostgres(url.reveal())
    return look
  }
  return {
    database: () => examinePostgres(looking()),
    outbox: nowMs => examinePostgresOutbox(looking(), nowMs, hasServer),
    writtenAtMs: async () => {
      try {
        return (await looking()).lastWrittenAtMs
      } catch (fault) {
        // What is wrong with it is told where the database is.
        if (fault instanceof StoreFault) return null
        throw fault
      }
    },
  }
}
