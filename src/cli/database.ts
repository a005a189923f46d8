import type { Command } from "commander"
import { escapeControls } from "../base/untrusted-text.ts"
import type { BackupInfo } from "../customers/store/backup/backup.ts"
import type { StoreCopyResult } from "../customers/store/backup/copy-to-postgres.ts"
import type { RestoreResult } from "../customers/store/backup/restore.ts"
import { CommandError, type Output, printJson, printTable } from "./output.ts"

/** What a restore did; `jobsFolder`: why no list can be uploaded after it, and what to do; null: nothing keeps them. */
type Restored = RestoreResult & { readonly jobsFolder: { readonly reason: string; readonly remedy: string } | null }

/** Both reject with a `StoreError`. */
export type BackupDeps = {
  /** Writes a backup; null: the file exists and must not be replaced (`isNew`). */
  readonly backup: (file: string, isNew: boolean) => Promise<BackupInfo | null>
  readonly restore: (file: string) => Promise<Restored>
  /** Reads a backup without restoring it, and tells when it was written. */
  readonly check: (file: string) => Promise<BackupInfo & { readonly writtenAtMs: number }>
}

/** Registers `backup` and `restore`. */
export function registerBackupCommands(root: Command, output: Output, deps: BackupDeps): void {
  root
    .command("backup")
    .description("Copy the database to a file, even while a server runs.")
    .argument("<file>", "the new file, in an existing directory")
    .option("--force", "replace an existing file", false)
    .option("--json", "print JSON", false)
    .action(async (file: string, { force, json: asJson }: { force: boolean; json: boolean }) => {
      const copied = await deps.backup(file, !force)
      if (copied === null) throw new CommandError(`${escapeControls(file)} exists already. --force replaces it.`)
      if (asJson) printJson(output, copyJson(copied))
      else output.line(`${escapeControls(copied.path)} holds ${describeContents(copied)}. Every page was read back.`)
    })
  root
    .command("restore")
    .description("Restore a backup and keep the previous database next to it. No server may run.")
    .argument("<file>", "a backup")
    .option("--check", "only check that it can be restored", false)
    .option("--json", "print JSON", false)
    .action(async (file: string, { json: asJson, check }: { json: boolean; check: boolean }) => {
      if (check) return printChecked(output, await deps.check(file), asJson)
      const restored = await deps.restore(file)
      if (asJson) printJson(output, restoreJson(restored))
      else printRestore(output, restored)
    })
}

function printChecked(output: Output, checked: Awaited<ReturnType<BackupDeps["check"]>>, asJson: boolean): void {
  const written = new Date(checked.writtenAtMs).toISOString()
  if (asJson) {
    printJson(output, { ...copyJson(checked), written_at: written })
    return
  }
  output.line(
    `${escapeControls(checked.path)} can be restored. It was written at ${written} and holds ${describeContents(checked)}.`,
  )
}

const copyJson = ({ path, bytes, accountsCount, keysCount, schemaVersion }: BackupInfo) => ({
  ...{ path, bytes, accounts: accountsCount, keys: keysCount, migration: schemaVersion },
})

const restoreJson = ({ previousPath, merged, deletedAgainCount, jobsFolder, ...copied }: Restored) => ({
  ...copyJson(copied),
  kept_as: previousPath,
  deleted_again: deletedAgainCount,
  jobs_folder: jobsFolder,
  carried_over: merged && {
    revoked_keys: merged.revokedCount,
    quota_days: merged.unitsCount,
    ended_mails: merged.mailsCount,
    lost_accounts: merged.lostAccountsCount,
    returned_accounts: merged.returnedAccountsCount,
  },
})

function printRestore(
  output: Output,
  { previousPath, merged, deletedAgainCount, jobsFolder, ...copied }: Restored,
): void {
  output.line(`The database holds ${describeContents(copied)}.`)
  output.line("Everybody must sign in again. Uploaded lists and their results are gone: no backup has them.")
  if (jobsFolder !== null)
    output.line(escapeControls(`No list can be uploaded yet. ${jobsFolder.reason} ${jobsFolder.remedy}`))
  if (previousPath !== null) output.line(`The previous database is ${escapeControls(previousPath)}.`)
  if (deletedAgainCount > 0)
    output.line(`Accounts that were deleted since the backup, and are deleted again: ${deletedAgainCount}.`)
  if (merged === null) {
    output.line("Changes since the backup could not be taken over:")
    output.line("  Keys revoked since then work again. Revoke them with `mailkind key revoke ID`.")
    output.line("  Units used since then are not known. Up to a complete quota can be used again today.")
    output.line("  Mails sent since then may be sent again.")
    return
  }
  const { revokedCount, unitsCount, mailsCount, lostAccountsCount, returnedAccountsCount } = merged
  output.line(
    `Taken over: ${revokedCount} revocations of keys, ${unitsCount} days of quotas, ${mailsCount} ends of mails.`,
  )
  if (lostAccountsCount > 0) output.line(`Accounts created since the backup, which are gone: ${lostAccountsCount}.`)
  const backCount = returnedAccountsCount - deletedAgainCount
  if (backCount > 0) output.line(`Accounts that the previous database did not have, which are back: ${backCount}.`)
}

const describeContents = ({ accountsCount, keysCount, bytes }: BackupInfo): string =>
  `${accountsCount} accounts and ${keysCount} keys in ${bytes.toLocaleString("en")} bytes`

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
    .option("--to <url>", "postgres://…, default MAILKIND_DATABASE_URL, which lists of processes do not show")
    .option("--json", "print JSON", false)
    .action(async ({ to, json: asJson }: { to?: string; json: boolean }) => {
      const move = await copy(to ?? null)
      if (move.kind !== "moved") throw new CommandError(copyRefusal(move))
      if (asJson) {
        const tables = move.tables.map(({ name, rowsCount, repairedCount, sha256 }) => ({
          ...{ name, rows: rowsCount, repaired: repairedCount, sha256 },
        }))
        return printJson(output, { to: move.location, tables })
      }
      printTable(output, [
        ["table", "rows", "sha-256, the same on both sides"],
        ...move.tables.map(({ name, rowsCount, sha256 }) => [name, String(rowsCount), sha256.slice(0, 16)]),
      ])
      for (const { name, repairedCount } of move.tables)
        if (repairedCount > 0)
          output.line(`${name}: ${repairedCount} values were changed: fractions are rounded, NUL in a text is U+FFFD.`)
      output.line(
        `The copy is in ${move.location}. Set MAILKIND_DATABASE_URL on every node, and keep the file as a backup.`,
      )
    })
}

function copyRefusal(move: Exclude<StoreCopyResult, { readonly kind: "moved" }>): string {
  switch (move.kind) {
    case "no_database":
      return "There is no SQLite database in the data directory. Set MAILKIND_DATA_DIR."
    case "other_version":
      return `The tables have version ${move.schemaVersion}, not the one of this program. Start this program on them once.`
    case "not_empty":
      return `The database is not empty. It has rows in ${move.table}. Name an empty one.`
    case "unfit_value":
      return `${move.table}.${move.column} holds ${move.found} in the row with rowid ${move.row}, which PostgreSQL refuses. Nothing was stored. Correct the row in the file (UPDATE ${move.table} SET ${move.column} = … WHERE rowid = ${move.row}), and copy again.`
    case "refused_rows":
      return `PostgreSQL refuses rows of ${move.table}: ${move.reason}. Nothing was stored.`
    case "differs":
      return `The rows of ${move.table} differ from the copied ones. Nothing was stored. Try again, and report this.`
  }
}
