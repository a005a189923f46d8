import type { Command } from "commander"
import type { BackupInfo } from "../customers/store/backup/backup.ts"
import type { StoreCopyResult } from "../customers/store/backup/copy-to-postgres.ts"
import type { RestoreResult } from "../customers/store/backup/restore.ts"
import { CommandError, escapeControls, type Output, printJson, printTable } from "./output.ts"

/** Both reject with a `StoreError`. */
export type BackupDeps = {
  /** Writes a backup; null: the file exists and must not be replaced (`isNew`). */
  readonly backup: (file: string, isNew: boolean) => Promise<BackupInfo | null>
  readonly restore: (file: string) => Promise<RestoreResult>
}

/** Registers `backup` and `restore`. */
export function registerBackupCommands(root: Command, output: Output, deps: BackupDeps): void {
  root
    .command("backup")
    .description("Write a copy of the database to a file, also while a server runs.")
    .argument("<file>", "where to; its directory is there already")
    .option("--force", "replace the file when it is there", false)
    .option("--json", "answer in JSON", false)
    .action(async (file: string, { force, json: asJson }: { force: boolean; json: boolean }) => {
      const copied = await deps.backup(file, !force)
      if (copied === null) throw new CommandError(`${escapeControls(file)} is there already; --force replaces it.`)
      if (asJson) printJson(output, copyJson(copied))
      else
        output.line(
          `${escapeControls(copied.path)} holds ${describeContents(copied)}. Every page of it has been read back.`,
        )
    })
  root
    .command("restore")
    .description("Put a backup in place of the database, which is kept beside it. No server may run.")
    .argument("<file>", "a backup")
    .option("--json", "answer in JSON", false)
    .action(async (file: string, { json: asJson }: { json: boolean }) => {
      const restored = await deps.restore(file)
      if (asJson) printJson(output, restoreJson(restored))
      else printRestore(output, restored)
    })
}

const copyJson = ({ path, bytes, accountsCount, keysCount, schemaVersion }: BackupInfo) => ({
  ...{ path, bytes, accounts: accountsCount, keys: keysCount, migration: schemaVersion },
})

const restoreJson = ({ previousPath, merged, ...copied }: RestoreResult) => ({
  ...copyJson(copied),
  kept_as: previousPath,
  carried_over: merged && {
    revoked_keys: merged.revokedCount,
    quota_days: merged.unitsCount,
    ended_mails: merged.mailsCount,
    lost_accounts: merged.lostAccountsCount,
    returned_accounts: merged.returnedAccountsCount,
  },
})

function printRestore(output: Output, { previousPath, merged, ...copied }: RestoreResult): void {
  output.line(`The database holds ${describeContents(copied)}.`)
  output.line("Nobody is signed in any more.")
  if (previousPath !== null) output.line(`What was there before is kept as ${escapeControls(previousPath)}.`)
  if (merged === null) {
    output.line("Nothing could be taken over of what happened since the backup:")
    output.line("  keys that were revoked since work again: revoke them, by `mailkind key revoke ID`;")
    output.line("  what was used of today's quotas since is not known: up to a whole one may be used again today;")
    output.line("  mails that were sent since may be sent again.")
    return
  }
  const { revokedCount, unitsCount, mailsCount, lostAccountsCount, returnedAccountsCount } = merged
  output.line(
    `Taken over of it: ${revokedCount} revocations of keys, ${unitsCount} days of quotas, ${mailsCount} ends of mails.`,
  )
  if (lostAccountsCount > 0)
    output.line(`Accounts that were made since the backup, and are gone: ${lostAccountsCount}.`)
  if (returnedAccountsCount > 0)
    output.line(
      `Accounts that were deleted since the backup, and are back: ${returnedAccountsCount}. Delete them again.`,
    )
}

const describeContents = ({ accountsCount, keysCount, bytes }: BackupInfo): string =>
  `${accountsCount} accounts and ${keysCount} keys in ${bytes.toLocaleString("en")} octets`

/** Dependencies of `store copy`. */
export type StoreCopyDeps = {
  /** `to` null: the database that the settings name. */
  readonly copy: (to: string | null) => Promise<StoreCopyResult>
}

/** Registers `store copy`. */
export function registerStoreCommands(root: Command, output: Output, { copy }: StoreCopyDeps): void {
  root
    .command("store")
    .description("Move the database.")
    .command("copy")
    .description("Copy the SQLite database of the data directory to an empty PostgreSQL database. No server may run.")
    .option("--to <url>", "postgres://…; without it, that of MAILKIND_DATABASE_URL, which no list of processes shows")
    .option("--json", "answer in JSON", false)
    .action(async ({ to, json: asJson }: { to?: string; json: boolean }) => {
      const move = await copy(to ?? null)
      if (move.kind !== "moved") throw new CommandError(copyRefusal(move))
      if (asJson) {
        const tables = move.tables.map(({ name, rowsCount, sha256 }) => ({ name, rows: rowsCount, sha256 }))
        return printJson(output, { to: move.location, tables })
      }
      printTable(output, [
        ["table", "rows", "sha-256, the same on both sides"],
        ...move.tables.map(({ name, rowsCount, sha256 }) => [name, String(rowsCount), sha256.slice(0, 16)]),
      ])
      output.line(
        `All of it is in ${move.location}. Set MAILKIND_DATABASE_URL on every node, and keep the file as a backup.`,
      )
    })
}

function copyRefusal(move: Exclude<StoreCopyResult, { readonly kind: "moved" }>): string {
  switch (move.kind) {
    case "no_database":
      return "There is no SQLite database in the data directory. Set MAILKIND_DATA_DIR."
    case "other_version":
      return `The tables are at ${move.schemaVersion}, which is not what this version has. Start this version on them once.`
    case "not_empty":
      return `The database holds rows already, in ${move.table}. Name an empty one.`
    case "differs":
      return `What was read back of ${move.table} is not what was written; nothing was kept. Try again, and tell us.`
  }
}
