import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Page } from '~/ui/Page'
import { useEdits } from '../session/useEdits'
import styles from './curves.module.css'
import { Sources } from './Learning'
import { NewSource } from './NewSource'

/** Applications that send their metric, and what was learnt from it. */
export function LearningPage({ curve }: { curve: string | undefined }) {
  return (
    <Page
      title="Learning in production"
      lead={
        <>
          An application’s own metric beside the measured round trips of the paths it waits for tells what latency costs
          it, if latency varies and nothing else moves both.{' '}
          <Anchor size="sm" underline="always" renderRoot={(root) => <Link {...root} to="/curves" />}>
            All curves
          </Anchor>
        </>
      }
    >
      <div className={styles.section}>
        <Sources />
      </div>
      {useEdits() && <NewSource curve={curve} />}
    </Page>
  )
}
