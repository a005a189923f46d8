import type { Store } from "../../src/customers/store/core/store.ts"

/** Suspends an account since an instant, or resumes it (null). */
export async function setSuspension(store: Store, accountId: string, sinceMs: number | null): Promise<void> {
  await store.run("UPDATE accounts SET suspended_at_ms = $2 WHERE id = $1", [accountId, sinceMs])
}
