import { Button, FileButton } from '@mantine/core'
import { useState } from 'react'
import { CopyText } from '~/ui/CopyText'
import { pageStyles } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { strings } from './strings'

export type Named<T> = T & { name: string }

interface Props<T> {
  opened: Named<T> | null
  onChange: (opened: Named<T> | null) => void
  /** Return the content of a file, null if it is none of this kind. */
  parse: (text: string) => T | null
  /** Command of the sending VM, which writes the file. */
  command: string
  words: { lead: string; open: string; bad: string; forget: string; used: (opened: Named<T>) => string }
}

/** Commands that measure a path from a terminal, and a button that opens the file that they write. */
export function OpenedFile<T extends object>({ opened, onChange, parse, command, words }: Props<T>) {
  const [isBad, setIsBad] = useState(false)
  async function read(file: File | null) {
    if (!file) return
    const content = parse(await file.text())
    setIsBad(content === null)
    if (content) onChange({ ...content, name: file.name })
  }
  return (
    <>
      <p className={pageStyles.lead}>{words.lead}</p>
      <CopyText label={strings.onReceiver} text="sinemora advise burst-receiver" />
      <CopyText label={strings.onSender} text={command} />
      <div className={pageStyles.form}>
        <FileButton accept=".json" onChange={(file) => void read(file)}>
          {(props) => (
            <Button {...props} variant="default">
              {words.open}
            </Button>
          )}
        </FileButton>
        {opened && (
          <Button variant="default" onClick={() => onChange(null)}>
            {words.forget}
          </Button>
        )}
      </div>
      {opened && <p>{words.used(opened)}</p>}
      {isBad && <Notice tone="bad">{words.bad}</Notice>}
    </>
  )
}
