/** The samples of Prometheus's text, each by its name and labels as they stand there. */
export const samplesOf = (text: string): ReadonlyMap<string, number> =>
  new Map(
    [...text.matchAll(/^([a-z_]+(?:\{.*\})?) (\S+)$/gm)].map(([, name = "", value = ""]) => [
      name,
      value === "+Inf" ? Number.POSITIVE_INFINITY : Number(value),
    ]),
  )
