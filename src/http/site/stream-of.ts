/**
 * The parts of a text as a body, each made when the one before has been taken. Where making one throws, `failed` hears of
 * it, and the body breaks off: whoever reads it sees that its end did not come.
 */
export function streamOf(
  parts: AsyncGenerator<string>,
  failed: (error: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    pull: async controller => {
      try {
        const { value, done } = await parts.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        failed(error)
        // Without the error, which Bun would print as it is, whatever it holds.
        controller.error()
      }
    },
    cancel: async () => void (await parts.return(undefined)),
  })
}
