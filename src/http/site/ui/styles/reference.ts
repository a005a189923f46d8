/** The colours of code, at least 4.5 : 1 on the ground of a sample: keywords, strings, numbers, comments, names. */
export const REFERENCE = `
.hk { color: light-dark(#6d3bb8, #c9a6f5) } .hs { color: light-dark(#0b6658, #7fd0bd) } .hn { color: light-dark(#93430b, #efb07a) }
.hc { color: light-dark(#5a616d, #9ea6b4) } .ha { color: light-dark(#1f58a8, #92bdf7) }
`
