/** True when this names a PostgreSQL database, and no file. */
export const isPostgresUrl = (where: string): boolean => /^postgres(?:ql)?:\/\//.test(where)

/** Where a database is, for the operator to read: its URL without the user, the password and what follows the name. */
export function placeOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `postgres://${host}${pathname}`
}
