import { Link } from '@tanstack/react-router'
import { useHasRoute } from '~/api/labs'
import { ADVISORS } from '~/ui/advisors'
import { Page, Panel } from '~/ui/Page'
import styles from './advisors.module.css'
import { strings } from './strings'

/** The advisors, each with the question that it answers. */
export function AdvisorsPage() {
  const hasRoute = useHasRoute()
  return (
    <Page title={strings.advisors} lead={strings.advisorsLead}>
      <Panel>
        <ul className={styles.advisors}>
          {ADVISORS.filter(({ link }) => hasRoute(link.to)).map(({ name, Icon, link }) => (
            <li key={name}>
              <Icon />
              <div>
                <Link {...link}>{name}</Link>
                <p>{strings.questions[link.to]}</p>
              </div>
            </li>
          ))}
        </ul>
      </Panel>
    </Page>
  )
}
