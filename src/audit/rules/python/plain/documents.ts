import { anyOf, oneOf, pattern, words } from '../../../formats/words.ts';
import { type HarmlessKeys, type HarmlessTable, merged } from '../../../judges/harmless-keys.ts';

const MARKDOWN_EXTENSIONS = oneOf`
  abbr admonition attr_list codehilite def_list extra fenced_code footnotes legacy_attrs legacy_em md_in_html meta nl2br
  sane_lists smarty tables toc wikilinks pymdownx\.\w+ markdown\.extensions\.\w+
`;
const MKDOCS_PLUGINS = words`search tags privacy offline minify redirects git-revision-date-localized glightbox section-index autorefs`;

/** Keys by which Jekyll, Hugo and like generators load, run, fetch or write; all others are data of the site. */
const SITE_LOADS = words`
  {,***.}{plugin*,gem*,theme,remote_theme,safe,whitelist,source,destination,*_dir,*dir,highlighter,markdown,include,security,exec}{,.***}
  {,***.}{module,modules,imports,mounts,deploy*,deployment*,build,pre*,post*,hook*,command*,script*,*_script*,*-script*,*extension*,execute}{,.***}
  {,***.}{filter*,sphinx*,parse,config,converters,renderer,output*,layout*,extensions,markup,cascade,load_paths,handlers,caches}{,.***}
  {,***.}{engine,knitr,jupyter,format.***,metadata-files,contributes,project,shortcodes,revealjs-plugins,brand,validate-yaml}{,.***}
`;
const SITE: HarmlessKeys = {
  switch: words`***`,
  text: words`***`,
  url: words`***`,
  glob: words`exclude defaults.scope.path permalink`,
  never: SITE_LOADS,
};

/** Generators of documentation and sites. */
export const DOCUMENT_TABLES: readonly HarmlessTable[] = [
  {
    files: ['mkdocs.y{,a}ml', 'mkdocs{.,-}*.y{,a}ml'],
    harmless: {
      text: words`site_name site_description site_author repo_name theme.{palette,font,icon}.** theme.language extra.**`,
      any: words`nav nav.*** copyright edit_uri exclude_docs draft_docs not_in_nav plugins.redirects.redirect_maps.*** site_url repo_url`,
      url: words`extra.**`,
      switch: words`strict use_directory_urls validation.** theme.** extra.**`,
      words: words`theme.features theme.palette.** extra.** theme.language`,
      glob: words`watch extra_css theme.{logo,favicon,icon.**}`,
      never: words`theme.custom_dir`,
      matching: anyOf(
        pattern()`^markdown_extensions\[\](=(${MARKDOWN_EXTENSIONS})|\.(${MARKDOWN_EXTENSIONS})=(null|\{\}))$`,
        pattern()`^markdown_extensions\[\]\.(${MARKDOWN_EXTENSIONS})(\.\w{1,40})?=(true|false|null|\d+)$`,
        pattern()`^plugins\[\](=(search|tags)$|\.(${MKDOCS_PLUGINS.join('|')})\.[\w.[\]]{1,80}=(true|false|null|\d+|\w+)$)`,
        /^theme\.name=(material|mkdocs|readthedocs)$|^theme=(material|mkdocs|readthedocs)$/,
      ),
    },
  },
  {
    files: ['.readthedocs.y{,a}ml'],
    harmless: {
      switch: words`version sphinx.fail_on_warning mkdocs.fail_on_warning search.**`,
      word: words`build.os build.tools.* formats python.version`,
      matching: /^(sphinx|mkdocs)\.configuration=(docs?\/)?(source\/)?(conf\.py|mkdocs\.ya?ml)$/,
    },
  },
  {
    files: ['_config.yml', '_quarto.y{,a}ml', 'myst.yml', '_pkgdown.yml', '_bookdown.yml', 'antora-playbook.yml'],
    harmless: SITE,
  },
  {
    files: ['hugo.{toml,yaml,yml,json}', 'config/_default/*'],
    harmless: merged(SITE, {
      any: words`{,languages.*.}params.***`,
      words: words`languageCode {,languages.*.}title pagination.* taxonomies.*`,
    }),
  },
  {
    files: ['book.toml'],
    harmless: {
      text: words`book.{title,description}`,
      any: words`book.authors`,
      word: words`book.{language,text-direction} rust.edition output.html.{default-theme,preferred-dark-theme}`,
      switch: words`
        book.multilingual build.create-missing output.html.{mathjax-support,copy-fonts,no-section-label,smart-punctuation,curly-quotes}
        output.html.{search,fold,print,playground,code}.** output.html.{hash-files,sidebar-header-nav}
      `,
      url: words`output.html.{git-repository-url,edit-url-template}`,
    },
  },
  {
    files: ['_toc.yml'],
    harmless: { text: words`***`, glob: words`***`, switch: words`***`, never: words`***url***` },
  },
  { files: ['arara.yaml'], harmless: {} },
];
