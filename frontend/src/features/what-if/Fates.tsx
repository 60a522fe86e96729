import { useComputedColorScheme } from '@mantine/core'
import type { Fate, WhatIf } from '~/api/types'
import { TripsGrid } from '~/charts/trips/TripsGrid'
import { formatChange, formatShare } from '~/lib/performance'
import { formatDelay, NO_VALUE } from '~/lib/units'
import { Panel, pageStyles } from '~/ui/Page'
import { Records } from '~/ui/Records'
import { Notice } from '~/ui/State'
import styles from './scenarios.module.css'

/** What becomes of every application, and of the paths. */
export function Fates({ found }: { found: WhatIf }) {
  return (
    <>
      {found.broken.length > 0 && (
        <Notice tone="warn" title="Limits that would not hold.">
          {found.broken.join('; ')}.
        </Notice>
      )}
      {found.placed.length > 0 && (
        <Notice tone="info" title="Places found.">
          {found.placed
            .map(({ application, task, vm }) => `${application.name} / ${task.name} on ${vm.name}`)
            .join('; ')}
          .
        </Notice>
      )}
      {found.applications.length === 0 ? (
        <Notice tone="info" title="No application runs on this mesh.">
          Declare one under Applications, and this page says what it would keep.
        </Notice>
      ) : (
        <Records
          label="Applications before and after"
          rows={found.applications}
          id={({ application }) => application.id}
          columns={[
            { title: 'Application', cell: ({ application }) => application.name, as: 'head' },
            { title: 'Now', cell: ({ before }) => formatShare(before?.mean), as: 'number' },
            { title: 'Then', cell: ({ after }) => formatShare(after?.mean), as: 'number' },
            {
              title: 'Interval',
              cell: ({ after }) => (after ? `${formatShare(after.low)} to ${formatShare(after.high)}` : NO_VALUE),
              as: 'number',
            },
            { title: 'Change', cell: ({ gain }) => formatChange(gain?.gain.mean), as: 'number' },
            {
              title: 'Objective',
              cell: ({ objective }) => (objective === null ? NO_VALUE : formatShare(objective)),
              as: 'number',
            },
            { title: 'Beside', cell: beside, as: 'quiet' },
          ]}
        />
      )}
      <Grids trips={found.trips} />
    </>
  )
}

function beside({ below_objective, waiting, beyond }: Fate): string {
  const words = [
    below_objective && 'below its objective',
    waiting > 0 && `${waiting} ${waiting === 1 ? 'task waits' : 'tasks wait'}`,
    beyond > 0 && `${beyond} ${beyond === 1 ? 'link is' : 'links are'} beyond what its curve knows`,
  ]
  return words.filter(Boolean).join(', ')
}

function Grids({ trips }: { trips: WhatIf['trips'] }) {
  const theme = useComputedColorScheme('light')
  const all = [...trips.before_ns, ...trips.after_ns].flat().filter((value) => value !== null)
  if (all.length === 0) return null
  const range: [number, number] = [Math.min(...all), Math.max(...all)]
  const grid = (values: (number | null)[][], words: string) => (
    <figure>
      <figcaption>{words}</figcaption>
      <TripsGrid
        label={`Round trips between ${trips.names.length} ${trips.by === 'vm' ? 'VMs' : 'zones'}, ${words.toLowerCase()}.`}
        names={trips.names}
        values={values}
        range={range}
        theme={theme}
        describe={(row, column) =>
          `${trips.names[row]} to ${trips.names[column]}: ${formatDelay(values[row]?.[column] ?? null)}`
        }
        marked={(row, column) => trips.before_ns[row]?.[column] !== trips.after_ns[row]?.[column]}
      />
    </figure>
  )
  return (
    <Panel title="Round trips">
      <div className={styles.grids}>
        {grid(trips.before_ns, 'Now')}
        {grid(trips.after_ns, 'Then')}
      </div>
      <p className={pageStyles.quiet}>
        From {formatDelay(range[0])} to {formatDelay(range[1])}, stronger is slower. Outlined cells change; a hole is a
        path nobody knows.
      </p>
    </Panel>
  )
}
