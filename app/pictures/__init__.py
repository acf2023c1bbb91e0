"""Figures as SVG files that stand alone: for pages without scripts, README files, course systems, mail, previews."""
