import { expect, setDefaultTimeout, test } from "bun:test"
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import { StoreError } from "../../../../src/customers/store/core/store-error.ts"
import { openPostgres } from "../../../../src/customers/store/postgres-store.ts"
import { later } from "../../../support/later.ts"
import { onTestEnd } from "../../../support/on-test-end.ts"
import { POSTGRES_PROGRAMS, type PostgresCluster, startPostgres } from "../../../support/postgres.ts"

setDefaultTimeout(120_000)

const missingRows = [
  ...(POSTGRES_PROGRAMS === null ? ["PostgreSQL"] : []),
  ...(Bun.which("openssl") === null ? ["openssl"] : []),
]
const NAMED = missingRows.length === 0 ? "" : ` (skipped: ${missingRows.join(" and ")} is not installed)`

/** Gives the server a certificate for the name `localhost` by an authority of its own, and gives the file of that. */
async function withTls(cluster: PostgresCluster): Promise<string> {
  const file = (name: string): string => join(cluster.directory, name)
  const openssl = (...words: string[]): void => {
    const { exitCode, stderr } = Bun.spawnSync(["openssl", ...words])
    if (exitCode !== 0) throw new Error(stderr.toString())
  }
  const days = ["-days", "2", "-nodes"]
  openssl("req", "-x509", ...days, "-subj", "/CN=authority", "-keyout", file("ca.key"), "-out", file("ca.pem"))
  const own = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
  const by = ["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-addext", "basicConstraints=critical,CA:FALSE"]
  openssl("req", "-x509", ...days, ...own, ...by, "-keyout", file("server.key"), "-out", file("server.pem"))
  // Only the server's own user may read the key.
  const owner = Bun.spawnSync(["chown", "--reference", file("data"), file("server.key"), file("server.pem")])
  if (owner.exitCode !== 0) throw new Error(owner.stderr.toString())
  await cluster.stop()
  const settings = ["ssl=on", `ssl_cert_file='${file("server.pem")}'`, `ssl_key_file='${file("server.key")}'`]
  appendFileSync(file("data/postgresql.conf"), `\n${settings.join("\n")}\n`)
  await cluster.start()
  return file("ca.pem")
}

test.skipIf(missingRows.length > 0)(
  `with sslmode in its URL every connection is encrypted, and a certificate that it does not allow is refused${NAMED}`,
  async () => {
    const cluster = await startPostgres()
    onTestEnd(cluster.remove)
    const plain = cluster.url("postgres")
    /** How many connections are encrypted and how many are not; or why there are none. */
    const setUp = async (url: string) => {
      const store = await openPostgres(url, { clock: Date.now, setTimer: later }).catch((error: unknown) => error)
      if (!("all" in Object(store))) return store
      const open = store as Awaited<ReturnType<typeof openPostgres>> // it has what only a store has
      const received = Promise.withResolvers<void>()
      open.onChange(received.resolve)
      await received.promise
      const rows = await open.all<{ ssl: number }>(
        "SELECT DISTINCT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.application_name = 'mailkind'",
      )
      await open.close()
      return rows.map(({ ssl }) => ssl === 1)
    }
    expect(await setUp(`${plain}?sslmode=require`)).toMatchObject({ code: "unencrypted" })
    const authority = await withTls(cluster)
    expect(await setUp(plain)).toEqual([false])
    expect(await setUp(`${plain}?sslmode=require`)).toEqual([true])
    const verified = `?sslmode=verify-full&sslrootcert=${authority}`
    expect(await setUp(plain.replace("127.0.0.1", "localhost") + verified)).toEqual([true])
    for (const url of [`${plain}?sslmode=verify-full`, plain + verified]) {
      const error = await setUp(url)
      expect(error).toBeInstanceOf(StoreError)
      expect(error).toMatchObject({ code: "untrusted" })
    }
  },
)
