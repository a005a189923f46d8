/** @jsxImportSource preact */
import HAPROXY from "./examples/haproxy.txt" with { type: "text" }

/** The file of a balancer before two nodes. */
export const BALANCER: string = HAPROXY.trimEnd()

/** What takes the first of them out, so that it gets nothing more, and what brings it back. */
export const TAKE_OUT = {
  drain: "set server nodes/a state drain",
  ready: "set server nodes/a state ready",
} as const
