import { Button, FileButton, Textarea, TextInput } from '@mantine/core'
import { type FormEvent, type ReactNode, useRef, useState } from 'react'
import type { MeasurementsInput } from '~/api/curves'
import { Problem } from '~/lib/problem'
import { formatCount } from '~/lib/units'
import { longest } from '~/ui/CheckedInput'
import { NumberField } from '~/ui/NumberField'
import { pageStyles } from '~/ui/Page'
import { ActionError } from '~/ui/State'
import styles from './curves.module.css'
import { strings } from './strings'
import { extent, type LineError, lineErrors, OF_TABLE, ROWS_MAX, rowsOf } from './upload'

const EXAMPLE = strings.example

interface Props {
  /** Fields above the table. */
  children?: ReactNode
  action: string
  pending: boolean
  error: unknown
  onSubmit: (input: MeasurementsInput, form: FormData) => void
}

/** A table of measurements, pasted or from a file; errors are shown at their lines. */
export function MeasurementsForm({ children, action, pending, error, onSubmit }: Props) {
  const [csv, setCsv] = useState('')
  const [sent, setSent] = useState('')
  const [refused, setRefused] = useState<string>()
  const area = useRef<HTMLTextAreaElement>(null)
  const problem = error instanceof Problem ? error : undefined
  const refusals = problem?.among(OF_TABLE) ?? []
  // After a change the lines are other ones.
  const wrong = csv === sent ? lineErrors(csv, refusals) : []

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const baseline = String(form.get('baseline')).trim()
    setSent(csv)
    onSubmit({ csv, source: String(form.get('source')).trim(), baseline: baseline ? Number(baseline) : null }, form)
  }

  async function open(file: File) {
    const text = await file.text()
    const rows = rowsOf(text)
    // A text area with a million lines would freeze the page.
    setRefused(rows > ROWS_MAX ? strings.tooManyRows(formatCount(rows), formatCount(ROWS_MAX)) : undefined)
    if (rows <= ROWS_MAX) setCsv(text)
  }

  function show(line: number) {
    area.current?.focus()
    area.current?.setSelectionRange(...extent(csv, line))
  }

  return (
    <form className={styles.panel} onSubmit={submit}>
      {children}
      <div className={pageStyles.form}>
        <TextInput
          name="source"
          label={strings.source}
          placeholder={strings.sourceExample}
          w={420}
          {...longest(2000)}
          error={problem?.field('source')}
        />
        <NumberField
          name="baseline"
          label={strings.baselineOptional}
          min={0}
          step="any"
          w={230}
          error={problem?.field('baseline')}
        />
      </div>
      <Textarea
        ref={area}
        className={styles.table}
        label={strings.measurements}
        description={strings.measurementsHint}
        placeholder={EXAMPLE}
        required
        autosize
        minRows={9}
        maxRows={22}
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        value={csv}
        error={
          refused ?? (wrong.length > 0 ? wrong.map(({ line, message }) => at(line, message)).join(' ') : undefined)
        }
        onChange={({ currentTarget: { value } }) => {
          setRefused(undefined)
          setCsv(value)
        }}
      />
      {wrong.map(
        ({ line, message }) =>
          line !== null && <Lines key={line} text={csv} wrong={{ line, message }} onShow={() => show(line)} />,
      )}
      <div className={styles.place}>
        <Button type="submit" size="sm" loading={pending}>
          {action}
        </Button>
        <FileButton
          accept=".csv,.tsv,.txt,.json,text/csv,application/json"
          onChange={(file) => void (file && open(file))}
        >
          {(props) => (
            <Button {...props} size="sm" variant="default">
              {strings.openFile}
            </Button>
          )}
        </FileButton>
        <Button size="sm" variant="subtle" onClick={() => setCsv(EXAMPLE)}>
          {strings.fillExample}
        </Button>
      </div>
      <ActionError error={error} />
    </form>
  )
}

const at = (line: number | null, message: string) => (line === null ? message : strings.lineError(line, message))

/** The lines around an error, with its message below the line. */
function Lines({ text, wrong, onShow }: { text: string; wrong: LineError; onShow: () => void }) {
  const lines = text.split(/\r\n|\r|\n/)
  const place = (wrong.line ?? 1) - 1
  const first = Math.max(0, place - 2)
  return (
    <div>
      <ol className={styles.lines} aria-label={strings.linesAround(place + 1)}>
        {lines.slice(first, place + 3).map((line, i) => {
          const number = first + i + 1
          return (
            <li key={number} className={number === wrong.line ? styles.wrong : undefined}>
              <span className={styles.number}>{number}</span>
              {line}
              {number === wrong.line && <strong>{wrong.message}</strong>}
            </li>
          )
        })}
      </ol>
      <Button variant="subtle" onClick={onShow}>
        {strings.goToLine} {wrong.line}
      </Button>
    </div>
  )
}
