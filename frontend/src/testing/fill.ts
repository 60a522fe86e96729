import userEvent from '@testing-library/user-event'

/** Put a text into a field in place of its own, in one go: the page renders once, not once a letter. */
export async function fill(field: Element, text: string) {
  await userEvent.clear(field)
  await userEvent.paste(text)
}
