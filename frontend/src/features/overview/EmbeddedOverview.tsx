import { useQuery } from '@tanstack/react-query'
import { meshHealthQuery } from '~/api/overview'
import { Failed, Loading } from '~/ui/State'
import { MeshSection } from './MeshSection'
import styles from './overview.module.css'
import { strings } from './strings'

/** The health of one mesh, for a frame in another page. */
export function EmbeddedOverview({ meshId }: { meshId: string }) {
  const health = useQuery(meshHealthQuery(meshId))
  if (health.data) {
    return (
      <div className={styles.embedded}>
        <h1>{strings.overview}</h1>
        <MeshSection mesh={health.data} isCompared isExpanded />
      </div>
    )
  }
  if (!health.error) return <Loading what={strings.meshesLower} />
  return <Failed what={strings.meshes} error={health.error} retry={() => void health.refetch()} />
}
