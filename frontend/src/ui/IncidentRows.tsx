import { sentenceCase } from '~/lib/text'
import { Age } from './Age'
import { useClock } from './clock'
import { TextLink } from './links'
import { Records } from './Records'
import { SEVERITIES, type Severity } from './severity'
import { strings } from './strings'

interface Row {
  id: string
  title: string
  severity: Severity
  onset_at: string
  ended_at: string | null
}

interface Props {
  rows: readonly Row[]
  /** The clock that ages are counted by. */
  now: () => number
}

/** Incidents of one object: name, severity, start and end. */
export function IncidentRows({ rows, now }: Props) {
  const clock = useClock()
  return (
    <Records
      label={strings.incidents}
      rows={rows}
      id={({ id }) => id}
      columns={[
        {
          title: strings.incident,
          cell: ({ id, title }) => (
            <TextLink to="/incidents/$incidentId" params={{ incidentId: id }}>
              {sentenceCase(title)}
            </TextLink>
          ),
          as: 'head',
        },
        { title: strings.severity, cell: ({ severity }) => SEVERITIES[severity].word },
        { title: strings.started, cell: ({ onset_at }) => <Age at={onset_at} clock={clock} now={now} /> },
        {
          title: strings.ended,
          cell: ({ ended_at }) => (ended_at ? <Age at={ended_at} clock={clock} now={now} /> : strings.ongoing),
        },
      ]}
    />
  )
}
