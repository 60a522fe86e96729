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
import { Page, pageStyles } from '~/ui/Page'
import { Loading } from '~/ui/State'
import { Card, Loaded } from './Card'
import { MeshSection } from './MeshSection'
import { NeedsAttention } from './NeedsAttention'
import { OpenIncidents } from './OpenIncidents'
import styles from './overview.module.css'
import { COMPARED } from './prefetch'
import { strings } from './strings'
import { isMeasured, worstFirst } from './verdict'
import { WorstApplications } from './WorstApplications'

// Not part of the first load.
const FindingList = lazy(() => import('~/ui/FindingList'))

/** The state of the network: is it fine, where not, since when, and what does it cost. */
export function OverviewPage() {
  const overview = useQuery(overviewQuery)
  const ranking = useQuery(applicationRankingQuery)
  const findings = useQuery(findingsQuery)
  return (
    <Page title={strings.overview} lead={strings.lead}>
      {overview.data ? (
        <Parts overview={overview.data} ranking={ranking} findings={findings} />
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
  findings: UseQueryResult<Finding[]>
}

/** All parts appear together, so that none moves another. */
function Parts({ overview: { meshes, attention }, ranking, findings }: PartsProps) {
  return (
    <>
      {worstFirst(meshes).map((mesh, place) => (
        <MeshSection key={mesh.id} mesh={mesh} isCompared={place < COMPARED} isExpanded={place === 0} />
      ))}
      <Card
        title={strings.incidents}
        more={
          <TextLink size="sm" to="/incidents" search={{ show: 'all' }}>
            {strings.allIncidents}
          </TextLink>
        }
      >
        <OpenIncidents meshes={meshes} />
      </Card>
      <Card title={strings.findings}>
        <Loaded what={strings.findingsLower} query={findings}>
          {(data) => (
            <Suspense fallback={<Loading what={strings.findingsLower} />}>
              {data.length === 0 && !isMeasured(meshes) ? (
                <p className={pageStyles.lead}>{strings.noFindingsUnmeasured}</p>
              ) : (
                <FindingList findings={data} />
              )}
            </Suspense>
          )}
        </Loaded>
      </Card>
      <div className={styles.columns}>
        <Card
          title={strings.applications}
          more={
            <TextLink size="sm" to="/applications">
              {strings.allApplications}
            </TextLink>
          }
        >
          <Loaded what={strings.applicationsLower} query={ranking}>
            {(data) => <WorstApplications ranking={data} />}
          </Loaded>
        </Card>
        <Card title={strings.attention}>
          <NeedsAttention attention={attention} meshes={meshes} />
        </Card>
      </div>
    </>
  )
}
