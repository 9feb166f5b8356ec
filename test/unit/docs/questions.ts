/** A question of a user who has not read the documentation, and where its answer is. */
export interface Question {
  readonly question: string;
  /** A page, with the heading that answers it. */
  readonly answer: string;
}

const ask = (question: string, answer: string): Question => ({ question, answer: `docs/${answer}` });

/** Written before the pages that answer them. */
export const QUESTIONS: readonly Question[] = [
  ask('Does my .env file go in?', 'how-to/faq.md#does-my-env-go-in'),
  ask(
    'Can the agent read my ssh keys or my other projects?',
    'how-to/faq.md#can-the-agent-read-my-home-my-ssh-keys-or-my-other-projects',
  ),
  ask('Where does my data go?', 'security.md#where-data-goes'),
  ask('How do I install it on a Mac?', 'how-to/install.md#macos'),
  ask('How do I upgrade to a new release?', 'how-to/install.md#upgrade'),
  ask('How do I get rid of it?', 'how-to/faq.md#how-do-i-get-rid-of-it'),
  ask('How do I undo what was applied?', 'how-to/review-changes.md#undo'),
  ask('Why was a change held back?', 'how-to/review-changes.md'),
  ask('The agent needs another host. How do I allow it?', 'how-to/allow-hosts.md'),
  ask('Does it work behind the proxy of my company?', 'how-to/proxy.md'),
  ask('Can I use Podman instead of Docker?', 'how-to/podman.md'),
  ask('We have Claude by Bedrock. Does that work?', 'how-to/cloud-and-local-models.md'),
  ask('Can I use a local model?', 'how-to/cloud-and-local-models.md#a-model-on-your-machine'),
  ask('How do I limit the cost of a run?', 'how-to/run-unattended.md#set-limits'),
  ask('How do I run it in CI?', 'how-to/use-in-ci.md'),
  ask('How do I give it many tasks?', 'how-to/batch.md'),
  ask('How do I get a pull request out of it?', 'how-to/open-pull-requests.md'),
  ask('I closed the terminal. Where are my changes?', 'how-to/faq.md#where-are-my-changes-after-i-closed-the-terminal'),
  ask('Why does the first copy take so long, why is it slow?', 'how-to/faq.md#why-is-the-first-copy-slow'),
  ask('gcc is missing. How do I add a compiler?', 'how-to/custom-image.md#compilers'),
  ask('My tests need a database. Where does it run?', 'how-to/services.md'),
  ask('How do I see the page of the development server in my browser?', 'how-to/see-a-page.md'),
  ask('Can it use Docker inside?', 'how-to/faq.md#can-i-use-docker-inside'),
  ask('Can I run Codex in it?', 'how-to/other-agents.md'),
  ask('Can it use my MCP servers?', 'how-to/mcp-servers.md'),
  ask('What happens after a crash of my machine?', 'how-to/manage-sessions.md#after-a-crash'),
  ask('How does it differ from a dev container?', 'how-to/faq.md#how-does-it-differ-from-a-dev-container'),
  ask('Where is it stored on my disk?', 'explanation/on-disk.md'),
  ask('Can I have several sessions at once?', 'how-to/monorepo.md#several-sessions-at-once'),
  ask('How do I roll it out in my team?', 'how-to/teams.md'),
  ask('Can it work on my own files instead of a copy?', 'how-to/pair-with-the-agent.md'),
  ask('What is not defended?', 'security.md#not-defended'),
];
