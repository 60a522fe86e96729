import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import {
  type ApplicationRanking,
  applicationRankingQuery,
  type Finding,
  findingsQuery,
  type Overview,
  overviewQuery,
} from '~/api/overview'
import { TextLink } from '~/ui/links'
import { Page } from '~/ui/Page'
import { Loading } from '~/ui/State'
import { Card, Loaded } from './Card'
import { MeshSection } from './MeshSection'
import { OpenIncidents } from './OpenIncidents'
import styles from './overview.module.css'
import { COMPARED } from './prefetch'
import { strings } from './strings'
import { worstFirst } from './verdict'
import { NeedsAttention } from './Watch'
import { WorstApplications } from './WorstApplications'

// Not part of the first load.
const FindingList = lazy(() => import('~/ui/FindingList'))

/** The state of the network on one screen: is it fine, where not, since when, what does it cost, who was told. */
export function OverviewPage() {
  const overview = useQuery(overviewQuery)
  const ranking = useQuery(applicationRankingQuery)
  const findings = useQuery(findingsQuery)
  return (
    <Page title={strings.overview}>
      {overview.data ? (
        <Parts overview={overview.data} ranking={ranking} findings={findings.data ?? []} />
      ) : (
        <Card title={strings.meshes}>
          <Loaded what={strings.meshesLower} query={overview}>
            {() => null}
          </Loaded>
        </Card>
      )}
    </Page>
  )
}

interface PartsProps {
  overview: Overview
  ranking: UseQueryResult<ApplicationRanking>
  findings: readonly Finding[]
}

/** All parts appear together, so that none moves another. */
function Parts({ overview, ranking, findings }: PartsProps) {
  const meshes = worstFirst(overview.meshes)
  return meshes.map((mesh, place) => (
    <MeshSection key={mesh.id} mesh={mesh} isCompared={place < COMPARED} isExpanded={place === 0}>
      {place === 0 && (
        <div className={styles.side}>
          <Incidents meshes={meshes} />
          <Applications ranking={ranking} />
          <NeedsAttention attention={overview.attention} />
          {findings.length > 0 && (
            <details className={styles.findings}>
              <summary>{strings.findings(findings.length)}</summary>
              <Suspense fallback={<Loading what={strings.findingsLower} />}>
                <FindingList findings={findings} />
              </Suspense>
            </details>
          )}
        </div>
      )}
    </MeshSection>
  ))
}

function Incidents({ meshes }: { meshes: Overview['meshes'] }) {
  return (
    <Card
      title={strings.openIncidents}
      more={
        <TextLink to="/incidents" search={{ show: 'all' }}>
          {strings.allIncidents}
        </TextLink>
      }
    >
      <OpenIncidents meshes={meshes} />
    </Card>
  )
}

function Applications({ ranking }: Pick<PartsProps, 'ranking'>) {
  return (
    <Card title={strings.applications} more={<TextLink to="/applications">{strings.allApplications}</TextLink>}>
      <Loaded what={strings.applicationsLower} query={ranking}>
        {(data) => <WorstApplications ranking={data} />}
      </Loaded>
    </Card>
  )
}
