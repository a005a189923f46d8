/** The migration that makes the table of nodes; like every other it is never edited once it is released. */
export const NODE_TABLES = {
  number: 15,
  makes: "heartbeats of nodes",
  statements: [
    // Servers that share the database. `beat` only rises while one lives: no clock tells whether it does.
    `CREATE TABLE nodes (
      id TEXT PRIMARY KEY,
      beat BIGINT NOT NULL)`,
  ],
}
