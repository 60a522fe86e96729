import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { treatmentQuery } from '~/api/advisors'
import type { Treatment as Found } from '~/api/types'
import { formatCount } from '~/lib/units'
import { Panel } from '~/ui/Page'
import { QueryResult } from '~/ui/QueryResult'
import { Notice } from '~/ui/State'
import { type Named, OpenedFile } from './OpenedFile'
import { type MixedBursts, mixedBurstsOf } from './question'
import { strings } from './strings'

/** Treatment of small packets and of DSCP classes on a path, from a file of mixed bursts. */
export function Treatment() {
  const [bursts, setBursts] = useState<Named<MixedBursts> | null>(null)
  return (
    <Panel title={strings.treatment}>
      <OpenedFile
        opened={bursts}
        onChange={setBursts}
        parse={mixedBurstsOf}
        command="SINEMORA_API_KEY=$KEY sinemora advise packet-treatment $HOST --output mixed.json"
        words={{
          lead: strings.treatmentLead,
          open: strings.openMixed,
          bad: strings.notMixed,
          forget: strings.closeMixed,
          used: ({ name, bursts: [first] }) => strings.mixedUsed(name, formatCount(first.sent_ns.length)),
        }}
      />
      {bursts && <Verdicts bursts={bursts} />}
    </Panel>
  )
}

function Verdicts({ bursts: { name, bursts } }: { bursts: Named<MixedBursts> }) {
  const query = useQuery(treatmentQuery(bursts, name))
  return (
    <QueryResult query={query} what={strings.treatmentLower}>
      {([bySize, byClass]) => (
        <>
          <Verdict title={strings.bySize} found={bySize.by_size} />
          <Verdict title={strings.byClass} found={byClass.by_class} />
        </>
      )}
    </QueryResult>
  )
}

function Verdict({ title, found: { verdict, evidence, explanation } }: { title: string; found: Found['by_size'] }) {
  const isFinding = verdict === 'different' || verdict === 'stripped'
  return (
    <Notice tone={isFinding ? 'warn' : 'info'} title={`${title}: ${strings.treatments[verdict]}`}>
      {explanation} {evidence && strings.evidenceOf(evidence)}
    </Notice>
  )
}
