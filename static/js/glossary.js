/** The glossary's page. */
import { watchTerms } from "./terms.js";

watchTerms(document.body);
