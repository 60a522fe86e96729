import { Fragment, useRef } from 'react'
import { CopyButton } from './CopyButton'
import styles from './copy.module.css'

/** Text to copy: a command, or a secret shown once. */
export function CopyText({ text, label }: { text: string; label: string }) {
  const code = useRef<HTMLElement>(null)
  return (
    <fieldset className={styles.command} aria-label={label}>
      <code ref={code}>
        {text.split(' ').map((word, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: words have no identity but their place
          <Fragment key={i}>
            {i > 0 && ' '}
            <span>{word}</span>
          </Fragment>
        ))}
      </code>
      <CopyButton
        text={() => {
          // Selected, one key copies it where the browser lets no page write to the clipboard.
          if (code.current) getSelection()?.selectAllChildren(code.current)
          return text
        }}
      />
    </fieldset>
  )
}
