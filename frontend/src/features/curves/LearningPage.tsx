import { useQuery } from '@tanstack/react-query'
import { useEdits } from '~/api/access'
import { metricSourcesQuery } from '~/api/metric-sources'
import { TextLink } from '~/ui/links'
import { Page } from '~/ui/Page'
import styles from './curves.module.css'
import { Sources } from './Learning'
import { NewSource } from './NewSource'
import { strings } from './strings'

/** Metric sources, the findings of each, and the form that adds one. */
export function LearningPage({ curve }: { curve: string | undefined }) {
  const edits = useEdits()
  const sources = useQuery(metricSourcesQuery)
  return (
    <Page
      title={strings.learningInProduction}
      lead={
        <>
          {strings.learningLead}{' '}
          <TextLink underline="always" to="/curves">
            {strings.allCurves}
          </TextLink>
        </>
      }
    >
      <div className={styles.section}>
        <Sources />
      </div>
      {edits && !sources.isPending && <NewSource curve={curve} />}
    </Page>
  )
}
