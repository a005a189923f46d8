import type { SQL } from "bun"
import type { SetTimer } from "../../../base/outside-world.ts"
import { setResponsiveTimer } from "../../../base/responsive-timer.ts"
import { CoalescedRuns } from "../../../base/single-flight.ts"
import { StoreError } from "../core/store-error.ts"
import { createClient, type DatabaseSession, type OnClose, type PoolBounds } from "./clients.ts"
import { postgresStoreError } from "./postgres-errors.ts"
import { redactedUrl } from "./postgres-url.ts"
import { CHANGES_CHANNEL } from "./prepare-database.ts"

/** Where notifications come from, and who is told when none come. */
export type Notifications = {
  /** The URL of the server itself; null: that of the pool, unless a pooler is there. */
  readonly url: string | null
  /** Called with the error when the database answers and this address brings no notification, and with null when it does again. */
  readonly onChange: (error: StoreError | null) => void
}

type NotificationListenerDeps = {
  readonly setTimer: SetTimer
  readonly bounds: PoolBounds
  readonly from: Notifications
  /** Connects to the database itself; null: a pooler is there. */
  readonly connect: ((onLost: OnClose) => SQL) | null
  /** Whether the database is known to be away. */
  readonly isAway: () => boolean
  /** Sends a notification by way of the database. False: it cannot now. */
  readonly notify: () => Promise<boolean>
}

/** The connection for notifications alone names no table. */
export const LISTENING: DatabaseSession = { kind: "direct", searchPath: null }

/** How often listeners are called at most, in milliseconds, however many notifications come. */
const NOTIFICATION_INTERVAL_MS = 100

/** After so many failures in a row the address for notifications counts as unreachable. */
const LISTEN_FAILURES_MIN = 10

/** How long a notification of our own may take before the address counts as that of another database. */
const OWN_NOTIFICATION_MS = 3000

/** The connection of a process for notifications, which is opened anew when it was lost. */
export class NotificationListener {
  readonly #deps: NotificationListenerDeps
  readonly #listeners = new Set<() => void>()
  readonly #runs = new CoalescedRuns(() => this.#callListeners())
  #client: SQL | null = null
  #isClosed = false
  #failures = 0
  /** Whether a notification has come over the connection. */
  #hasHeard = false
  /** Whether it was told that none come. */
  #isTold = false

  constructor(deps: NotificationListenerDeps) {
    this.#deps = deps
  }

  /** Calls `listener` with each notification, and when one may have been missed. */
  add(listener: () => void): void {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) this.restart()
  }

  async close(timeoutS: number): Promise<void> {
    this.#isClosed = true
    this.#runs.stop()
    await this.#client?.close({ timeout: timeoutS })
  }

  /** Opens a connection in place of the one before. A lost one is replaced by us: Bun would reopen it too, and print a line of its own for each attempt that fails. */
  restart(): void {
    const { setTimer, bounds, from, connect } = this.#deps
    const { url } = from
    if (this.#listeners.size === 0 || this.#isClosed) return
    let isLost = false
    const onLost = (error?: unknown): void => {
      if (isLost) return
      isLost = true
      this.#recordFailure(error)
      void client?.close({ timeout: 0 })
      setTimer(bounds.reconnectDelayMaxMs, () => {
        if (client === this.#client && !this.#isClosed) this.restart()
      })
    }
    const client = url === null ? connect?.(onLost) : createClient(url, LISTENING, bounds, 1, onLost)
    if (client === undefined) return
    const previous = this.#client
    this.#client = client
    this.#hasHeard = false
    void previous?.close({ timeout: 0 })
    const onNotification = (): void => {
      if (client === this.#client) this.#recordNotification()
      this.#runs.request()
    }
    const onListening = (): void => {
      this.#runs.request()
      if (url !== null) void this.#expectOwn(client, url)
    }
    client.listen(CHANGES_CHANNEL, onNotification, onListening).catch(onLost)
  }

  /** Sends a notification, which arrives if this address and that of the database lead to one database. Until it could be sent, it is sent again. */
  async #expectOwn(client: SQL, url: string): Promise<void> {
    const isSent = await this.#deps.notify().catch(() => false)
    setResponsiveTimer(this.#deps.setTimer, OWN_NOTIFICATION_MS, () => {
      if (client !== this.#client || this.#isClosed || this.#hasHeard) return
      if (isSent)
        this.#tell(new StoreError("elsewhere", redactedUrl(url), "a notification of this server did not arrive"))
      else void this.#expectOwn(client, url)
    })
  }

  #recordNotification(): void {
    this.#hasHeard = true
    this.#failures = 0
    if (this.#isTold) this.#deps.from.onChange(null)
    this.#isTold = false
  }

  #recordFailure(error: unknown): void {
    const { url } = this.#deps.from
    if (url === null || this.#deps.isAway() || ++this.#failures < LISTEN_FAILURES_MIN) return
    const location = redactedUrl(url)
    const storeError = postgresStoreError(error, location)
    this.#tell(storeError instanceof StoreError ? storeError : new StoreError("away", location, "it does not answer"))
  }

  #tell(error: StoreError): void {
    if (this.#isTold || this.#isClosed) return
    this.#isTold = true
    this.#deps.from.onChange(error)
  }

  /** Any user of the server can send notifications, each of which costs us statements. */
  async #callListeners(): Promise<void> {
    for (const listener of this.#listeners) listener()
    await new Promise<void>(resolve => void this.#deps.setTimer(NOTIFICATION_INTERVAL_MS, resolve))
  }
}
