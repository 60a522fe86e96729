import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { applicationRankingQuery, overviewQuery } from '~/api/overview'
import { Page } from '~/ui/Page'
import { Card, Loaded } from './Card'
import { MeshSection } from './MeshSection'
import { NeedsAttention } from './NeedsAttention'
import { OpenIncidents } from './OpenIncidents'
import styles from './overview.module.css'
import { strings } from './strings'
import { worstFirst } from './verdict'
import { WorstApplications } from './WorstApplications'

/** Zone pairs of further meshes are compared when someone opens them. */
const COMPARED = 3

/** The state of the network: is it fine, where not, since when, and what does it cost. */
export function OverviewPage() {
  const overview = useQuery(overviewQuery)
  const ranking = useQuery(applicationRankingQuery)
  return (
    <Page title={strings.overview} lead={strings.lead}>
      {overview.data ? (
        worstFirst(overview.data.meshes).map((mesh, place) => (
          <MeshSection key={mesh.id} mesh={mesh} isCompared={place < COMPARED} isExpanded={place === 0} />
        ))
      ) : (
        // As high as the window: what follows must not move when the meshes appear.
        <div className={styles.first}>
          <Card title={strings.meshes}>
            <Loaded what={strings.meshesLower} query={overview}>
              {() => null}
            </Loaded>
          </Card>
        </div>
      )}
      <Card
        title={strings.incidents}
        more={
          <Anchor size="sm" renderRoot={(root) => <Link {...root} to="/incidents" search={{ show: 'all' }} />}>
            {strings.allIncidents}
          </Anchor>
        }
      >
        <Loaded what={strings.incidentsLower} query={overview}>
          {({ meshes }) => <OpenIncidents meshes={meshes} />}
        </Loaded>
      </Card>
      <div className={styles.columns}>
        <Card
          title={strings.applications}
          more={
            <Anchor size="sm" renderRoot={(root) => <Link {...root} to="/applications" />}>
              {strings.allApplications}
            </Anchor>
          }
        >
          <Loaded what={strings.applicationsLower} query={ranking}>
            {(data) => <WorstApplications ranking={data} />}
          </Loaded>
        </Card>
        <Card title={strings.attention}>
          <Loaded what={strings.attentionLower} query={overview}>
            {({ attention }) => <NeedsAttention attention={attention} />}
          </Loaded>
        </Card>
      </div>
    </Page>
  )
}
