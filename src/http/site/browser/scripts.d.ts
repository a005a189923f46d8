/** Scripts that are imported as text, so that their paths are known without reading a file. */
declare module "*.js" {
  const text: string
  export = text
}
