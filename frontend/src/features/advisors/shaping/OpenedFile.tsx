import { Button, FileButton } from '@mantine/core'
import { useState } from 'react'
import { formatBytes } from '~/lib/bytes'
import { CopyText } from '~/ui/CopyText'
import { pageStyles } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { strings } from './strings'

export type Named<T> = T & { name: string }

/** Files of bursts have 1 MB; a browser stalls on much larger text. */
const BYTES_MAX = 8 * 1024 ** 2

interface Props<T> {
  opened: Named<T> | null
  onChange: (opened: Named<T> | null) => void
  /** Return the content of a file, null if it is none of this kind. */
  parse: (text: string) => T | null
  /** Command that sends between two VMs and writes the file. */
  command: string
  words: { lead: string; open: string; bad: string; forget: string; used: (opened: Named<T>) => string }
}

/** Commands that measure from a terminal, and a button that opens the file that they write. */
export function OpenedFile<T extends object>({ opened, onChange, parse, command, words }: Props<T>) {
  const [wrong, setWrong] = useState<string | null>(null)
  async function read(file: File | null) {
    if (!file) return
    if (file.size > BYTES_MAX) {
      setWrong(strings.fileTooLarge(file.name, formatBytes(file.size), formatBytes(BYTES_MAX)))
      return
    }
    const content = parse(await file.text())
    setWrong(content === null ? words.bad : null)
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
      {wrong && <Notice tone="bad">{wrong}</Notice>}
    </>
  )
}
