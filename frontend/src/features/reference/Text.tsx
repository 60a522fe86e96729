import styles from './reference.module.css'

/** Text of a program that scrolls, with the keyboard too. */
export function Text({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the keyboard's focus
    <section className={styles.code} aria-label={label} tabIndex={0}>
      <code>{text}</code>
    </section>
  )
}

export const shown = (example: unknown): string =>
  typeof example === 'string' ? example : JSON.stringify(example, null, 2)
