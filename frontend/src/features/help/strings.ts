/** Texts of the help. */

export const strings = {
  pages: 'Pages of the help',
  reference: 'API reference',
}
