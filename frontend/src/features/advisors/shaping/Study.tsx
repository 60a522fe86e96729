import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { shapingStudyQuery } from '~/api/advisors'
import type { ShapingStudy } from '~/api/types'
import { formatDelay, NO_VALUE, threeDigits } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Records } from '~/ui/Records'
import styles from '../advisors.module.css'
import { type Named, OpenedFile } from './OpenedFile'
import { type OpenedStudy, studyOf } from './question'
import { strings } from './strings'

type Operation = ShapingStudy['operations'][number]
type Row = Operation['profiles'][number]
type Figure = 'p95_us' | 'p99_us' | 'p999_us'

/** A study of the shaping lab from a file, next to the tables of its source. */
export function Study() {
  const [opened, setOpened] = useState<(Named<OpenedStudy> & { number: number }) | null>(null)
  const [count, setCount] = useState(0)
  function change(study: Named<OpenedStudy> | null) {
    setCount(count + 1)
    setOpened(study && { ...study, number: count })
  }
  return (
    <Panel title={strings.study}>
      <OpenedFile
        opened={opened}
        onChange={change}
        parse={studyOf}
        commands={[{ label: strings.onLab, text: 'sudo sinemora lab shape --output study.json' }]}
        words={{
          lead: strings.studyLead,
          open: strings.openStudy,
          bad: strings.notStudy,
          forget: strings.closeStudy,
          used: settingsOf,
        }}
      />
      {opened ? <Compared {...opened} /> : <p className={pageStyles.lead}>{strings.noStudy}</p>}
    </Panel>
  )
}

/** Return the settings of a study in a sentence. */
function settingsOf({ name, study }: Named<OpenedStudy>): string {
  const parts = [
    strings.studyUsed(name, `${threeDigits(study.link_mbit)} Mbit/s`, threeDigits(study.seconds)),
    study.delay_us > 0 && strings.studyDelay(formatDelay(1e3 * study.delay_us)),
    !study.acknowledged_writes && strings.studyWrites,
  ]
  return `${parts.filter(Boolean).join(', ')}.`
}

function Compared({ study, number }: Named<OpenedStudy> & { number: number }) {
  const query = useQuery(shapingStudyQuery(study, number))
  return (
    <QueryResult query={query} what={strings.studyLower}>
      {({ operations }) => (
        <div className={styles.results}>
          <p className={pageStyles.lead}>{strings.compareRatios}</p>
          {operations.map((operation) => (
            <Figures key={`${operation.workload} ${operation.operation}`} operation={operation} />
          ))}
        </div>
      )}
    </QueryResult>
  )
}

function Figures({ operation: { title, operation, profiles } }: { operation: Operation }) {
  const label = strings.operation(title, operation)
  const latency = (figure: Figure) => ({
    title: { p95_us: strings.p95, p99_us: strings.p99, p999_us: strings.p999 }[figure],
    cell: ({ measured, source }: Row) => both(measured && latencyOf(measured[figure]), latencyOf(source?.[figure])),
    as: 'number' as const,
  })
  return (
    <div className={pageStyles.list}>
      <h3>{label}</h3>
      <Records
        label={label}
        rows={profiles}
        id={({ profile }) => profile}
        columns={[
          { title: strings.profile, cell: ({ profile, measures }) => nameOf(profile, measures), as: 'head' },
          { title: strings.throughput, cell: throughputOf, as: 'number' },
          { title: strings.p50, cell: ({ measured }) => latencyOf(measured?.p50_us) ?? NO_VALUE, as: 'number' },
          latency('p95_us'),
          latency('p99_us'),
          latency('p999_us'),
          {
            title: strings.ratio,
            cell: ({ measured, source }) => both(measured && timesOf(measured.ratio), timesOf(source?.ratio)),
            as: 'number',
          },
          {
            title: strings.tail,
            cell: ({ measured }) =>
              measured ? (
                <span title={measured.tail_evidence}>{measured.tail_found ? strings.found200 : NO_VALUE}</span>
              ) : (
                strings.notRun
              ),
          },
        ]}
      />
    </div>
  )
}

/** Return the figure of the lab with that of the source below it. */
function both(here: string | null | undefined, source: string | null): ReactNode {
  return (
    <>
      {here ?? NO_VALUE}
      {source && <span className={styles.source}>{strings.ofSource(source)}</span>}
    </>
  )
}

function nameOf(profile: string, measures: string[]): ReactNode {
  return <span title={measures.join('; ')}>{profile}</span>
}

function throughputOf({ measured, source }: Row): ReactNode {
  const rate = measured?.mb_per_s ?? null
  const here = rate === null ? measured && strings.perSecond(threeDigits(measured.per_s)) : mbOf(rate)
  return both(here, mbOf(source?.mb_per_s))
}

const mbOf = (rate: number | null | undefined) => (rate == null ? null : strings.mbPerSecond(threeDigits(rate)))
const latencyOf = (us: number | null | undefined) => (us == null ? null : formatDelay(1e3 * us))
const timesOf = (ratio: number | null | undefined) => (ratio == null ? null : strings.times(threeDigits(ratio)))
