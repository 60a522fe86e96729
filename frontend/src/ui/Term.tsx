import { Tooltip } from '@mantine/core'
import { useState } from 'react'
import styles from './term.module.css'

interface Props {
  /** The name of the term in the glossary; the text itself when absent. */
  of?: string
  children: string
}

/** A term with its meaning from the glossary, shown on hover, focus and touch; Escape hides it. */
export function Term({ of, children }: Props) {
  const [meaning, setMeaning] = useState('')
  const [opened, setOpened] = useState(false)
  const hide = () => setOpened(false)

  async function show() {
    setOpened(true)
    if (meaning) return
    const { default: terms } = await import('virtual:glossary')
    const term = terms[(of ?? children).toLowerCase()]
    if (!term) return
    const sentence = term.meaning.charAt(0).toUpperCase() + term.meaning.slice(1)
    setMeaning(term.standard ? `${sentence} (${term.standard})` : sentence)
  }

  return (
    <Tooltip label={meaning} opened={opened && meaning !== ''} multiline maw={340} withArrow>
      <button
        type="button"
        className={styles.term}
        onPointerEnter={() => void show()}
        onPointerLeave={hide}
        onFocus={() => void show()}
        onBlur={hide}
        onClick={() => void show()}
        onKeyDown={({ key }) => key === 'Escape' && hide()}
      >
        {children}
      </button>
    </Tooltip>
  )
}
