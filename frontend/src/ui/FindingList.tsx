import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { sentenceCase } from '~/lib/text'
import { pageStyles } from './Page'
import { Records } from './Records'

const strings = {
  label: 'Findings and the rules that fired',
  none: 'No findings. Checked: shares of the network, application metrics, token buckets, and paths of open incidents.',
  noneOfPath: 'No findings about the most affected path.',
  about: 'About',
  advisor: 'Advisor',
  measurement: 'Measurement',
  rule: 'Rule',
  advice: 'Advice',
  mesh: 'Mesh',
  advisors: { fairness: 'Fairness', shaping: 'Shaping', transport: 'Transport' },
}

/** A finding as the API has it. */
interface Finding {
  advisor: 'fairness' | 'shaping' | 'transport'
  mesh: { id: string; name: string }
  about: string
  measurement: string
  rule: string
  advice: string | null
  source: string | null
  target: string | null
  of: 'vms' | 'applications' | 'metric_sources' | 'flows' | null
}

interface Props {
  findings: readonly Finding[]
  /** The findings are about the path of one incident. */
  isOfIncident?: boolean
}

/** Findings of the advisors: what they are about, the measurement, and the rule that fired. */
export default function FindingList({ findings, isOfIncident = false }: Props) {
  if (findings.length === 0) {
    return <p className={pageStyles.lead}>{isOfIncident ? strings.noneOfPath : strings.none}</p>
  }
  return (
    <Records
      label={strings.label}
      rows={findings}
      id={({ advisor, mesh, about, rule }) => `${advisor} ${mesh.id} ${about} ${rule}`}
      columns={[
        { title: strings.about, cell: (finding) => <AdvisorLink finding={finding} />, as: 'head' },
        { title: strings.advisor, cell: ({ advisor }) => strings.advisors[advisor] },
        ...(isOfIncident ? [] : [{ title: strings.mesh, cell: ({ mesh }: Finding) => mesh.name }]),
        { title: strings.measurement, cell: ({ measurement }) => sentenceCase(measurement), as: 'wrap' },
        { title: strings.rule, cell: ({ rule }) => rule, as: 'wrap' },
        { title: strings.advice, cell: ({ advice }) => advice, as: 'wrap' },
      ]}
    />
  )
}

/** What a finding is about; opens the advisor with the question of the finding. */
function AdvisorLink({ finding: { advisor, about, mesh, of, source, target } }: { finding: Finding }) {
  return (
    <Anchor
      size="sm"
      renderRoot={(root) => {
        if (advisor === 'fairness') {
          return <Link {...root} to="/advisors/fairness" search={{ mesh: mesh.id, of: of ?? 'vms' }} />
        }
        if (advisor === 'shaping') return <Link {...root} to="/advisors/shaping" />
        const path = source && target ? { mesh: mesh.id, source, target } : {}
        return <Link {...root} to="/advisors/transport" search={path} />
      }}
    >
      {about}
    </Anchor>
  )
}
