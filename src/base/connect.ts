import { connect as connectTcp, isIP, type Socket } from "node:net"
import { assert } from "./errors.ts"

/** An IP address (never a name), a port, and the host name that the TLS certificate must have; `null` means no TLS. */
export type ConnectTarget = { readonly address: string; readonly port: number; readonly tlsName: string | null }

/** An open connection. */
export type ByteConnection = {
  readonly send: (text: string) => void
  /** Received bytes until the peer ends the stream, read only on demand. Rejects if the connection breaks. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Why a connection failed: the port is closed, the host is unreachable, or TLS failed (the certificate's name included). */
export type ConnectErrorReason = "refused" | "unreachable" | "untrusted"

/** A connection could not be opened. */
export class ConnectError extends Error {
  override readonly name = "ConnectError"
  readonly reason: ConnectErrorReason

  constructor(reason: ConnectErrorReason) {
    super(reason)
    this.reason = reason
  }
}

/**
 * Opens a connection. With TLS it is open only once the certificate is trusted and valid for the name. Aborting the signal
 * closes it at any time. Rejects with a `ConnectError`.
 */
export type Connect = (target: ConnectTarget, signal: AbortSignal) => Promise<ByteConnection>

/** Creates a `Connect` over sockets. `authorities` replaces the built-in root certificates (PEM). */
export function socketConnect(authorities: string | null = null): Connect {
  return (target, signal) => {
    assert(isIP(target.address) !== 0, "a connection goes to an address: a name would be resolved again")
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new ConnectError("unreachable"))
      const socket = openSocket(target, authorities)
      let isReached = false
      socket.once("connect", () => {
        isReached = true
      })
      // The listener stays after connecting: an unhandled socket error would end the process.
      socket.on("error", error => reject(new ConnectError(errorReason(error, isReached && target.tlsName !== null))))
      socket.once("close", () => reject(new ConnectError("unreachable")))
      socket.once(target.tlsName === null ? "connect" : "secureConnect", () => {
        resolve({ send: text => void socket.write(text), chunks: socket })
      })
      signal.addEventListener("abort", () => socket.destroy(), { once: true })
    })
  }
}

function openSocket({ address, port, tlsName }: ConnectTarget, authorities: string | null): Socket {
  if (tlsName === null) return connectTcp({ host: address, port })
  return process.getBuiltinModule("node:tls").connect({
    host: address,
    port,
    // Sent as SNI and checked against the certificate (RFC 6125).
    servername: tlsName,
    rejectUnauthorized: true,
    ALPNProtocols: ["http/1.1"],
    ...(authorities === null ? {} : { ca: authorities }),
  })
}

function errorReason(error: Error, isHandshake: boolean): ConnectErrorReason {
  if (isHandshake) return "untrusted"
  return "code" in error && error.code === "ECONNREFUSED" ? "refused" : "unreachable"
}
