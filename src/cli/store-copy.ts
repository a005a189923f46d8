import type { Command } from "commander"
import type { Move } from "../customers/store/move.ts"
import { CommandFailure, json, type Output, table } from "./output.ts"

/** What moves an installation from SQLite to PostgreSQL. It rejects with a `StoreFault`. */
export type StoreTools = {
  /** `to` null: the database that the settings name. */
  readonly copy: (to: string | null) => Promise<Move>
}

/** Registers `store copy`. */
export function storeCommands(root: Command, output: Output, { copy }: StoreTools): void {
  root
    .command("store")
    .description("Move the database.")
    .command("copy")
    .description("Copy the SQLite database of the data directory to an empty PostgreSQL database. No server may run.")
    .option("--to <url>", "postgres://…; without it, that of MAILKIND_DATABASE_URL, which no list of processes shows")
    .option("--json", "answer in JSON", false)
    .action(async ({ to, json: asJson }: { to?: string; json: boolean }) => {
      const move = await copy(to ?? null)
      if (move.kind !== "moved") throw new CommandFailure(refusal(move))
      if (asJson) {
        const tables = move.tables.map(({ name, rowsCount, sha256 }) => ({ name, rows: rowsCount, sha256 }))
        return json(output, { to: move.place, tables })
      }
      table(output, [
        ["table", "rows", "sha-256, the same on both sides"],
        ...move.tables.map(({ name, rowsCount, sha256 }) => [name, String(rowsCount), sha256.slice(0, 16)]),
      ])
      output.line(
        `All of it is in ${move.place}. Set MAILKIND_DATABASE_URL on every node, and keep the file as a backup.`,
      )
    })
}

function refusal(move: Exclude<Move, { readonly kind: "moved" }>): string {
  switch (move.kind) {
    case "no_database":
      return "There is no SQLite database in the data directory. Set MAILKIND_DATA_DIR."
    case "other_version":
      return `The tables are at ${move.head}, which is not what this version has. Start this version on them once.`
    case "not_empty":
      return `The database holds rows already, in ${move.table}. Name an empty one.`
    case "differs":
      return `What was read back of ${move.table} is not what was written; nothing was kept. Try again, and tell us.`
  }
}
