import { Button } from '@mantine/core'
import { Fragment, useEffect, useRef, useState } from 'react'
import styles from './copy.module.css'
import { CheckIcon, CopyIcon } from './icons'
import { strings } from './strings'

/** Text to copy: a command, or a secret shown once. */
export function CopyText({ text, label }: { text: string; label: string }) {
  const code = useRef<HTMLElement>(null)
  const [copied, setCopied] = useState(false)

  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [copied])

  async function copy() {
    // On plain HTTP there is no clipboard to write to: select the text, so that one key copies it.
    if (code.current) getSelection()?.selectAllChildren(code.current)
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      setCopied(document.execCommand('copy'))
    }
  }

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
      <Button variant="default" onClick={copy} leftSection={copied ? <CheckIcon /> : <CopyIcon />}>
        <span aria-live="polite">{copied ? strings.copied : strings.copy}</span>
      </Button>
    </fieldset>
  )
}
